#!/bin/sh
# A backup by rsync over a long last hop that loses packets: as it is, and through a pair of relays.
# Needs root and rsync. Usage: examples/relay/backup.sh [MEGABYTES]
set -eu
megabytes=${1:-5}
link="20 Mbps, 75 ms, queue 250, loss 0.01"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/data" "$dir/copy"
head -c "${megabytes}000000" /dev/urandom > "$dir/data/file"
printf '[backup]\npath = %s/copy\nread only = no\nuid = 0\ngid = 0\nuse chroot = no\n' "$dir" > "$dir/rsyncd.conf"
lasthop relay key "$dir/key" > /dev/null

rate() { grep -o "[0-9.,]* bytes/sec" "$1"; }
daemon="rsync --daemon --no-detach --port 8730 --config $dir/rsyncd.conf"
serve="lasthop relay serve --listen 0.0.0.0:4700 --key $dir/key > /dev/null"
connect="lasthop relay connect server:4700 --key $dir/key --connections 8 --forward 8730:127.0.0.1:8730 > /dev/null"
backup="rsync --recursive --stats $dir/data"

echo "over $link"
lasthop emulate --link "$link" --set tcp.congestion=reno --with server "$daemon" -- \
    sh -c "$backup rsync://server:8730/backup/direct > $dir/direct" > /dev/null
echo "as it is:                      $(rate "$dir/direct")"
lasthop emulate --link "$link" --set tcp.congestion=reno --with server "$daemon" --with server "$serve" --with client "$connect" -- \
    sh -c "sleep 2; $backup rsync://127.0.0.1:8730/backup/relayed > $dir/relayed" > /dev/null
echo "through relays, 8 connections: $(rate "$dir/relayed")"
cmp "$dir/data/file" "$dir/copy/direct/data/file"
cmp "$dir/data/file" "$dir/copy/relayed/data/file"
