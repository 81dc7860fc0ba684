# Boots one machine of the lab: the first process of new namespaces (machine.ts), as root.
#
# Repositories and Nodes may stand anywhere, so all that is below / stays visible. Only what systems write to is the
# machine's own: overlays of /etc, /opt, /usr/local and /var, which outlive a reboot, and a new /run and /dev.
set -e
name=$1   # its host name
files=$2  # where its own files stand, on the keeper's tmpfs
bootid=$3 # a file that stands for the kernel's boot id
system=$4 # where the programs of another Debian release stand, / for this machine's own
shift 4   # then pairs: a directory that machines share, as over NFS, and where it is mounted

hostname "$name"
mount --bind "$bootid" /proc/sys/kernel/random/boot_id

mounts=$(findmnt --raw --noheadings --output TARGET)
for directory in etc opt usr/local var; do
  upper=$files/upper/$directory
  work=$files/work/$directory
  mkdir -p "$upper" "$work"
  # What is mounted in /opt stays where it is: the tests' own Node may be there.
  inside=$(echo "$mounts" | grep "^/$directory/" || :)
  merged=/$directory
  if [ -n "$inside" ]; then
    merged=$files/merged/$directory
    mkdir -p "$merged"
  fi
  lower=/$directory
  # What packages bring wins; what their scripts would write, accounts and PAM's settings, is as on this machine.
  if [ "$directory" = etc ] && [ "$system" != / ]; then lower=$system/etc:/etc; fi
  mount -t overlay -o "lowerdir=$lower,upperdir=$upper,workdir=$work" overlay "$merged"
  for mounted in $inside; do
    mkdir -p "$files/merged$mounted"
    mount --rbind "$mounted" "$files/merged$mounted"
  done
  [ "$merged" = "/$directory" ] || mount --rbind "$merged" "/$directory"
done
if [ "$system" != / ]; then
  # This machine's /usr/local stays in sight.
  mkdir -p "$files/local"
  mount --rbind /usr/local "$files/local"
  mount --bind "$system/usr" /usr
  mount --rbind "$files/local" /usr/local
fi
# Tessera of this machine itself is none of a new machine's. After a reboot what stands there is its own.
if [ ! -e "$files/booted" ]; then
  rm -rf /var/lib/tessera /opt/tessera /usr/local/bin/tessera-host /etc/sudoers.d/tessera /etc/cron.d/tessera
  rm -f /etc/systemd/system/tessera-*
  : >"$files/booted"
fi
mkdir -p /var/root
while [ $# -gt 1 ]; do
  mkdir -p "$2"
  mount --bind "$1" "$2"
  shift 2
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd /run/lock

# Files that stand for GPUs appear in /dev, so it is a new one with what every program expects.
dev=$files/dev
mkdir -p "$dev"
mount -t tmpfs -o mode=755 tmpfs "$dev"
mkdir -m 1777 "$dev/shm"
mkdir "$dev/pts"
for device in null zero full random urandom tty; do
  : >"$dev/$device"
  mount --bind "/dev/$device" "$dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$dev/pts"
ln -s pts/ptmx "$dev/ptmx"
ln -s /proc/self/fd "$dev/fd"
ln -s /proc/self/fd/0 "$dev/stdin"
ln -s /proc/self/fd/1 "$dev/stdout"
ln -s /proc/self/fd/2 "$dev/stderr"
mount --rbind "$dev" /dev

echo ready
# The first process buries what is orphaned; when it is killed, the kernel ends all others.
exec </dev/null >/dev/null 2>&1
while :; do
  sleep 1000000 &
  wait $!
done
