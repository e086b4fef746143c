#!/bin/busybox sh
# The first program of the virtual machine (test.sh): mounts this system's files below a layer in memory, and runs guest.sh there.
busybox() { /bin/busybox "$@"; }
busybox mkdir -p /proc /sys /dev /lower /layer /new
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
for module in virtio_pci 9pnet_virtio 9p overlay tun xfrm_user; do busybox modprobe -q "$module"; done
busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=524288 root /lower
busybox mount -t tmpfs layer /layer
busybox mkdir /layer/upper /layer/work
busybox mount -t overlay -o lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work overlay /new
for folder in proc sys dev; do busybox mount --move "/$folder" "/new/$folder"; done
exec /bin/busybox switch_root /new /bin/sh "$1/tools/kernels/guest.sh" "$@"
