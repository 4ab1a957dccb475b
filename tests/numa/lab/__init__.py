"""The virtual NUMA laboratory: Debian's kernel on QEMU machines with several nodes, running this machine's own programs.

topologies.py  the machines that can be booted, and what the kernel must make of each
parts.py       what a machine is made of: QEMU, kernel, initramfs (with init.sh), plugin, compiled programs
machine.py     boots one machine and runs a batch of jobs in it
checks.py      `run test`: what the kernel's calls and Hearth do on each machine
measure.py     `run bench`: matrices of last-level-cache misses, by runtime
las.py         `run bench --suite las`: the six benchmarks of the paper
forest.py      `run forest`: nested teams, their misses, binds and moved pages
demo.py        `run demo` and `run here`: one binary on two runtimes, side by side, here or in a machine
matrix.py      matrices as text and as a picture
main.py        the command line
"""
