#!/bin/sh
# The first process of the guest. The host's root comes in read-only over 9p with a tmpfs above it, so every program of the
# host is there and nothing is packed; a second share brings the batch and takes its results. A failure says where.
# The kernel hands on its command line: lab.share=<the share's folder on the host>.
b=/bin/busybox
stop() {
  echo "lab: init failed: $*"
  $b poweroff -f
}
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev
for module in /modules/*.ko; do $b insmod "$module" || stop "insmod $module"; done
$b mount -t tmpfs tmpfs /layers
$b mkdir /layers/host /layers/upper /layers/work
$b mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /layers/host || stop "9p of the root"
$b mount -t overlay -o lowerdir=/layers/host,upperdir=/layers/upper,workdir=/layers/work overlay /root || stop overlay
$b mount -t proc proc /root/proc
$b mount -t sysfs sysfs /root/sys
$b mount -t devtmpfs dev /root/dev
$b mkdir -p /root/dev/shm
$b mount -t tmpfs tmpfs /root/dev/shm
$b mount -t tmpfs tmpfs /root/run
share=$($b sed -n 's/.*lab\.share=\([^ ]*\).*/\1/p' /proc/cmdline)
$b mkdir -p "/root$share"
$b mount -t 9p -o rw,trans=virtio,version=9p2000.L,msize=512000,cache=none share "/root$share" || stop "9p of the share"
$b ip link set lo up
PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 $b chroot /root /bin/sh "$share/batch.sh"
$b sync
$b poweroff -f
