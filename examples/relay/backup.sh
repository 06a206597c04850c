#!/bin/sh
# A backup by rsync over a long last hop that loses packets: as it is, and through a pair of relays.
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

timed() { echo "begun=\$(date +%s); $1 > /dev/null; echo \$((\$(date +%s) - begun)) s > $2"; }
daemon="rsync --daemon --no-detach --port 8730 --config $dir/rsyncd.conf"
serve="lasthop relay serve --listen 0.0.0.0:4700 --key $dir/key > /dev/null"
connect="lasthop relay connect server:4700 --key $dir/key --connections 8 --forward 8730:127.0.0.1:8730 > /dev/null"
backup="rsync --recursive $dir/data"

echo "$megabytes MB over $link"
lasthop emulate --link "$link" --set tcp.congestion=reno --with server "$daemon" -- \
    sh -c "$(timed "$backup rsync://server:8730/backup/direct" "$dir/direct")" > /dev/null 2> "$dir/told" || cat "$dir/told" >&2
echo "as it is:                      $(cat "$dir/direct")"
lasthop emulate --link "$link" --set tcp.congestion=reno --with server "$daemon" --with server "$serve" --with client "$connect" -- \
    sh -c "sleep 2; $(timed "$backup rsync://127.0.0.1:8730/backup/relayed" "$dir/relayed")" > /dev/null 2> "$dir/told" || cat "$dir/told" >&2
echo "through relays, 8 connections: $(cat "$dir/relayed")"
cmp "$dir/data/file" "$dir/copy/direct/data/file"
cmp "$dir/data/file" "$dir/copy/relayed/data/file"
