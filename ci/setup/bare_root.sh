# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154  # $work and $suite are the sourcing script's
# Functions that make a minimal Debian in a folder, from the mirror that this machine uses, and run
# commands in it. To be sourced. $work names the sourcing script's own folder, in which tools and
# logs go; the script defines cannot, which says why it ends with 3, and calls end_inside at its end.
apt_trees=$work/apt
# shellcheck source=ci/setup/debian_packages.sh
. ci/setup/debian_packages.sh

# why_no_bare_root: prints what this machine lacks; nothing if it can make one.
why_no_bare_root() {
  if [ "$(id -u)" -ne 0 ]; then
    echo 'making a root folder needs root'
  elif ! command -v apt-get >/dev/null; then
    echo 'no apt-get here, so no mirror of Debian is known'
  elif [ -z "$(mirror)" ]; then
    echo 'apt knows no mirror of Debian here; apt-get update may fix that'
  elif ! unshare --mount --pid --fork true 2>/dev/null; then
    echo 'this machine lets nobody mount: unshare fails'
  fi
}

# sources SUITE: prints what this machine uses of SUITE, as lines of sources.list.
sources() {
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL) $(CODENAME)' \
    'Created-By: Packages' | sed -n 's/ Debian Debian\(-Security\)\{0,1\} / /p' | sort -u |
    grep " $1\(-updates\|-security\)\{0,1\}\$" | sed 's/.*/deb & main/'
}

# how_to_reach SUITE ROOT: copies what this machine needs to reach its mirror, and nothing else:
# apt's settings for downloads, name resolution, certificates.
how_to_reach() {
  sources "$1" >"$2/etc/apt/sources.list"
  [ -s "$2/etc/apt/sources.list" ] || echo "deb $(mirror) $1 main" >"$2/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(Check-|https?::|ftp::)' >"$2/etc/apt/apt.conf.d/90reach" ||
    true
  cp -L /etc/resolv.conf /etc/hosts "$2/etc/"
  for certificate in /usr/local/share/ca-certificates/*.crt; do
    [ ! -e "$certificate" ] || cp "$certificate" "$2/usr/local/share/ca-certificates/"
  done
  chroot "$2" update-ca-certificates >/dev/null
}

# find_debootstrap: sets $debootstrap to this machine's, or to one that it unpacks below $work.
find_debootstrap() {
  debootstrap=debootstrap
  command -v debootstrap >/dev/null && return
  debootstrap=$work/tool/usr/sbin/debootstrap
  DEBOOTSTRAP_DIR=$work/tool/usr/share/debootstrap
  export DEBOOTSTRAP_DIR
  [ -e "$debootstrap" ] ||
    unpack "$(dpkg --print-architecture)" bookworm "$work/tool" debootstrap ||
    cannot 'debootstrap is not installed and cannot be downloaded'
}

# make_bare SUITE ROOT [PACKAGE,PACKAGE]: a minimal Debian in ROOT, with these packages.
make_bare() {
  find_debootstrap
  # debootstrap mounts /proc, and does not unmount it when it is interrupted.
  unshare --mount "$debootstrap" --variant=minbase --include="ca-certificates${3:+,$3}" \
    "$1" "$2" "$(mirror)" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    cannot "debootstrap makes no $1 from $(mirror)"
  }
  # A bare machine has no packages in apt's cache.
  rm -rf "$2/var/cache/apt/archives"/*.deb "$2/var/lib/apt/lists"/*
  how_to_reach "$1" "$2"
}

inside=  # the process that stands for a command in a root

# in_root ROOT USER FOLDER COMMAND...: runs COMMAND in this folder of USER's home, with no variable
# of this machine's environment but those of proxies.
in_root() {
  # shellcheck disable=SC2016  # the other shell's
  unshare --mount --pid --fork --kill-child sh -c '
    root=$1 user=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    home=$(chroot "$root" getent passwd "$user" | cut -d : -f 6)
    exec chroot --userspec "$user" --groups "$(chroot "$root" id -G "$user" | tr " " ,)" "$root" \
      env -i HOME="$home" USER="$user" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      sh -c "cd \"\$HOME/\$0\" && exec \"\$@\"" "$@"
  ' sh "$@" </dev/null &
  inside=$!
  code=0
  wait "$inside" || code=$?
  inside=
  return "$code"
}

# end_inside: ends what in_root runs. Mounts exist in the other mount namespace alone, which ends
# with its processes. unshare ignores SIGTERM while it waits; its child dies with it (--kill-child).
end_inside() {
  [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true
  [ -z "$inside" ] || wait "$inside" || true
}
