"""The runner of the benchmarks: Python 3 standard library only, so that it runs on a bare machine.

build     compiles the programs with every compiler, fetches Intel's runtime
runtimes  which libraries there are, how a program is made to use one, the environment all of them get
sample    starts one process, checks which library served it, returns its samples
series    the rounds: who runs when, the progress line, what happens on Ctrl-C
stats     medians, paired ratios, bootstrap intervals (no I/O)
verdict   the limits and which rows miss them (no I/O)
report    the table for the terminal, for the docs, the JSON
main      the command line; scaling, quota, variants, instructions, forest and agreement are measurements of their own
"""
