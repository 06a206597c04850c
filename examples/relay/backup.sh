#!/bin/sh
# Time of a backup by rsync over a long last hop that loses packets, without and with a pair of relays.
# Needs root, rsync, and lasthop in the path; takes a minute. Usage: examples/relay/backup.sh [MEGABYTES]
set -eu
megabytes=${1:-5}
link="20 Mbps, 75 ms, queue 250, loss 0.01"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/data" "$dir/copy"
head -c "${megabytes}000000" /dev/urandom > "$dir/data/file"
printf '[backup]\npath = %s/copy\nread only = no\nuid = 0\ngid = 0\nuse chroot = no\n' "$dir" > "$dir/rsyncd.conf"
lasthop relay key "$dir/key" > /dev/null

daemon="rsync --daemon --no-detach --port 8730 --config $dir/rsyncd.conf"
serve="lasthop relay serve --listen 0.0.0.0:4700 --key $dir/key > /dev/null"
connect="lasthop relay connect server:4700 --key $dir/key --connections 8 --forward 8730:127.0.0.1:8730 > /dev/null"

# Prints a script that waits for the backup server, copies the data to its directory, and writes the duration of the
# copy to the file NAME. Usage: copy HOST NAME
copy() {
    cat << END
tries=0
until rsync rsync://$1:8730/ > /dev/null 2>&1; do
    tries=\$((tries + 1))
    [ \$tries -lt 100 ] || { echo "no answer at $1:8730" >&2; exit 1; }
    sleep 0.3
done
begun=\$(date +%s)
rsync --recursive $dir/data rsync://$1:8730/backup/$2 > /dev/null && echo \$((\$(date +%s) - begun)) s > $dir/$2
END
}

# Runs a copy over the emulated link, together with the rsync server and the programs of the options. Fails if the copy
# fails. Usage: run NAME [OPTION...] -- COMMAND...
run() {
    name=$1
    shift
    lasthop emulate --link "$link" --set tcp.congestion=reno --with server "$daemon" "$@" > /dev/null 2> "$dir/told" &&
        cmp "$dir/data/file" "$dir/copy/$name/data/file" && [ -s "$dir/$name" ] && return
    cat "$dir/told" >&2
    echo "error: the copy failed" >&2
    exit 1
}

echo "$megabytes MB over $link"
run direct -- sh -c "$(copy server direct)"
echo "as it is:                      $(cat "$dir/direct")"
run relayed --with server "$serve" --with client "$connect" -- sh -c "$(copy 127.0.0.1 relayed)"
echo "through relays, 8 connections: $(cat "$dir/relayed")"
