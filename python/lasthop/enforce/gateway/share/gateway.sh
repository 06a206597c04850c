#!/bin/sh
# Equal shares for the stations of a WiFi hot-spot, on a router without Python.
# Written by `lasthop gateway plan --sh`; what it does is in docs/reference/gateway.md.
#
#   sh FILE [start]   set up, adapt the rates, and take everything back at the end (TERM, INT, HUP)
#   sh FILE stop      end it, and take back what one that was killed has left
#
# Needs, beside the busybox of OpenWrt, the packages @PACKAGES@
# (or ip-full, tc-full). With ethtool too, merging of received segments (GRO) is turned off where it is on;
# without it what was merged counts as one packet.
#
# What differs from `lasthop gateway run`:
# - Each station with traffic, @ASKED@ of them at most, is pinged at once, once a second, and C takes a step
#   by the lower median of their delays. Up to `low` it grows by @GROWTH@ and up to `threshold` by @INCREASE@, where it
#   is used. Above it falls by @DECREASE@; the second time above `high`, to @BACK_OFF@ of what passed. While the delay
#   falls by itself, it holds. `lasthop gateway run` asks ten times a second and measures the
#   capacity: it grows five times in seconds, this in 40 s. `wce.interval`, `wce.timeout` have no effect.
# - u32 filters classify packets by MAC address. The BPF program of `lasthop gateway run` needs bpftool and a tc with
#   libbpf (packages bpftool-minimal and tc-bpf). A router that has them can run the commands of `lasthop gateway plan`.
# - ARP, DNS and DHCP have no allowance and wait in the leaf of their station, where fq_codel serves them first.
# - Pings of all stations share 128 kbit/s, and bytes that bypass the leaves are not counted.
# - New MAC addresses do not wait for a leaf.
# - A machine in `discover.ignore` is identified only by its IP address.
# - One station alone is believed, however late it is.
# - Stations are found in the table of neighbours alone.
# - Uplink UDP is not counted, nothing is mended, and there are no metrics. If the IFB goes, this ends.
# - It is not to run beside `lasthop gateway` with the same `lan`: both take back what has their marks.

set -u
#@settings

say() { echo "lasthop: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

# The first command that fails ends all, and what was done is taken back.
try() { "$@" || fail "refused: $*"; }

# -- what there is, and its inverse -------------------------------------------------------------

no_gro() {
    command -v ethtool >/dev/null || return 0
    ethtool -k "$1" 2>/dev/null | grep -q '^generic-receive-offload: on' || return 0
    printf '%s\n' "$1" >>"$DIR/gro" || fail "$DIR/gro cannot be written"
    try ethtool -K "$1" gro off
}

#@commands

# Looks before it removes: an IFB is ours by its MAC address, hooks by the numbers of their blocks.
undo() {
    left=0
    ours=$(ip -o link show type ifb | awk -v a="$IFB_MAC" -v b="$TRY_MAC" '{
        for (i = 1; i < NF; i++)
            if ($i == "link/ether" && ($(i + 1) == a || $(i + 1) == b)) {
                sub(/:$/, "", $2)
                print $2
            }
    }')
    shaped=$(tc qdisc show | awk -v a="$FROM_BLOCK" '{
        name = block = ""
        for (i = 1; i < NF; i++) {
            if ($i == "dev" && name == "") name = $(i + 1)
            if ($i == "ingress_block") block = $(i + 1)
        }
        if (block == a) print name
    }')
    # names have no blanks; the shell is not to take them for patterns
    set -f
    for name in $shaped; do tc qdisc del dev "$name" clsact || left=1; done
    for name in $ours; do ip link del dev "$name" || left=1; done
    set +f
    if [ -f "$DIR/gro" ]; then
        while read -r name; do
            ip link show dev "$name" >/dev/null 2>&1 || continue
            ethtool -K "$name" gro on || left=1
        done <"$DIR/gro"
    fi
    [ "$left" = 0 ] || { say "not all could be taken back; \`stop\` tries again"; return 1; }
    rm -f "$DIR/up" "$DIR/gro" "$DIR/pid" "$DIR/memory" "$DIR/memory.new" "$DIR/stations" \
        "$DIR/stations.new" "$DIR/asked" "$DIR/answers" "$DIR/classes" "$DIR/deeds"
}

check_programs() {
    [ "$(id -u)" = 0 ] || fail "this needs root"
    missing=
    for name in ip tc awk sed grep flock "$@"; do
        command -v "$name" >/dev/null || missing="$missing $name"
    done
    [ -z "$missing" ] || fail "missing:$missing; packages: ip-tiny, tc-tiny, busybox"
    case $(ip -V 2>&1) in
    *iproute2*) ;;
    *) fail "missing: ip of iproute2, this one is another; package: ip-tiny" ;;
    esac
}

check_kernel() {
    missing=
    ip link add name "$TRY" address "$TRY_MAC" type ifb 2>/dev/null ||
        fail "missing: ifb; package: kmod-ifb"
    for what in htb u32 mirred clsact "$LEAF"; do
        "can_$what" >/dev/null 2>&1 || missing="$missing $what"
    done
    ip link del dev "$TRY"
    hint=
    case "$missing " in
    *"codel "*) hint="; \`discipline = \"pfifo\"\` in the file needs no $LEAF" ;;
    esac
    [ -z "$missing" ] || fail "missing:$missing; packages: kmod-sched-core, tc-tiny$hint"
}

is_there() { ip link show dev "$1" >/dev/null 2>&1 || fail "interface $1 is not there"; }

can_htb() {
    tc qdisc add dev "$TRY" root handle 1: htb default 0 &&
        tc class add dev "$TRY" parent 1: classid 1:1 htb rate 8000000bit
}

can_u32() {
    tc filter add dev "$TRY" parent 1: protocol ip pref 1 u32 match u32 0 0 flowid 1:1
}

can_mirred() {
    tc filter add dev "$TRY" parent 1: protocol ip pref 2 u32 match u32 0 0 \
        action mirred egress redirect dev "$TRY"
}

can_clsact() {
    tc qdisc add dev "$TRY" ingress_block "$TRY_BLOCK" egress_block "$((TRY_BLOCK + 1))" clsact
}

# -- stations that come and go ------------------------------------------------------------------
#
# $DIR/stations has a line for each address:
#   station, class of its access point, whether it has a leaf of its own, classes to it and from it,
#   family, address, bucket of its MAC address, number in the bucket, time when it was last seen,
#   whether the file has it
# Bucket and number are "-" for a station of the file, whose entries stay.

heard_at() { ip neigh show dev "$2" 2>/dev/null | awk -v ap="$1" '{ print "N", ap, $0 }'; }

discover() {
    {
        sed 's/^/S /' "$DIR/stations"
        known
        neighbours
    } | awk -v now="${now%.*}" -v absence="$ABSENCE" -v first="$FIRST_LEAF" \
        -v file="$DIR/stations.new" '
        function add_mac(id, mac, down, up,    m, bucket, node) {
            split(mac, m, ":")
            bucket = m[6]
            sub(/^0/, "", bucket)
            node = 1
            while ((bucket, sprintf("%x", node)) in taken) node++
            node = sprintf("%x", node)
            taken[bucket, node] = 1
            in_bucket[id] = bucket
            in_place[id] = node
            print "add_mac", mac, bucket, "0x" m[1] m[2] m[3] m[4], "0x" m[5] m[6] "0000", \
                "0x0000" m[1] m[2], "0x" m[3] m[4] m[5] m[6], node, down, up
        }
        function free_leaf() {
            while (first in used_leaf) first++
            used_leaf[first] = 1
            return sprintf("6c68:%x", first)
        }
        function number(hex,    i, n) {
            for (i = 1; i <= length(hex); i++)
                n = n * 16 + index("123456789abcdef", substr(hex, i, 1))
            return n + 0
        }
        function keep(address,    line, key) {
            line = lines[address]
            split(line, f, " ")
            print f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], seen[address], f[11] >file
            has[f[1]]++
        }
        $1 == "S" {
            lines[$8] = substr($0, 3)
            order[++count] = $8
            seen[$8] = $11
            listed[$8] = $12
            owner[$8] = $2
            leaf[$2] = $5
            used_leaf[number(substr($5, 6))] = used_leaf[number(substr($6, 6))] = 1
            if ($9 != "-") {
                taken[$9, $10] = 1
                in_bucket[$2] = $9
                in_place[$2] = $10
            }
        }
        $1 == "A" { own[$2] = $3; to[$2] = $4; from[$2] = $5; quantum[$2] = $6; open[$2] = $7 }
        $1 == "K" {
            name[$2] = $3; its_ap[$3] = $4; its_quantum[$3] = $5
            if ($6 != "-") { taken[$6, $7] = 1; in_bucket[$3] = "-" }
        }
        $1 == "I" { ignored[$2] = 1 }
        $1 == "N" && $NF ~ /^(REACHABLE|STALE|DELAY|PROBE|PERMANENT)$/ {
            mac = ""
            for (i = 4; i < NF; i++) if ($i == "lladdr") mac = $(i + 1)
            if (mac == "" || ($3 in ignored)) next
            family = 0
            if ($3 ~ /^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$/ && $3 !~ /^(169\.254|22[4-9]|23[0-9])\./)
                family = 4
            else if ($3 ~ /^[0-9a-f:]+$/ && $3 !~ /^(fe[89ab]|ff)/)
                family = 6
            if (!family) next
            heard[++hears] = mac " " $2 " " family " " $3
            # A station of the file that has this address has all others of its MAC address too.
            if (listed[$3] && !(mac in name)) name[mac] = owner[$3]
            else if (listed[$3] && name[mac] != owner[$3]) routes[mac] = 1
        }
        function meet(mac, at, family, address,    id, ap) {
            id = (mac in name) ? name[mac] : mac
            if (!(mac in name) && !open[at]) return
            if (mac in routes) return
            if (address in owner) {
                if (listed[address]) return
                if (owner[address] == id) { seen[address] = now; return }
                seen[address] = -absence - 1 # it is another station now
            }
            ap = (id in its_ap && its_ap[id] != "-") ? its_ap[id] : at
            new[++coming] = id " " ap " " family " " address " " mac
        }
        END {
            printf "" >file
            for (k = 1; k <= hears; k++) {
                split(heard[k], f, " ")
                meet(f[1], f[2], f[3], f[4])
            }
            for (k = 1; k <= count; k++) {
                address = order[k]
                if (listed[address] || seen[address] >= now - absence) { keep(address); continue }
                split(lines[address], f, " ")
                gone[f[1]] = f[3] ? f[4] : ""
            }
            for (id in gone) if (!has[id]) {
                if (in_bucket[id] != "-") {
                    print "remove_mac", in_bucket[id], in_place[id]
                    delete taken[in_bucket[id], in_place[id]]
                    delete in_bucket[id]
                }
                if (gone[id] == "") continue
                print "remove_leaf", gone[id]
                delete leaf[id]
                delete used_leaf[number(substr(gone[id], 6))]
            }
            for (k = 1; k <= coming; k++) {
                split(new[k], f, " ")
                id = f[1]; ap = f[2]; family = f[3]; address = f[4]; mac = f[5]
                if (has[id] >= 16 || !(ap in own) || (address in placed)) continue
                placed[address] = 1
                if (!own[ap]) { down = to[ap]; up = from[ap] }
                else {
                    if (!(id in leaf)) {
                        leaf[id] = free_leaf()
                        print "add_leaf", ap, leaf[id], (id in its_quantum) ? its_quantum[id] : quantum[ap]
                    }
                    down = up = leaf[id]
                }
                if (!(id in in_bucket)) add_mac(id, mac, down, up)
                node = in_bucket[id] == "-" ? "-" : in_place[id]
                print id, ap, own[ap], down, up, family, address, in_bucket[id], node, now, 0 >file
                has[id]++
            }
        }' >"$DIR/deeds"
    while read -r deed a b c d e f g h i; do
        case $deed in
        add_leaf) add_leaf "$a" "$b" "$c" ;;
        add_mac) add_mac "$a" "$b" "$c" "$d" "$e" "$f" "$g" "$h" "$i" ;;
        remove_mac) remove_mac "$a" "$b" ;;
        remove_leaf) remove_leaf "$a" ;;
        esac || say "refused: $deed $a $b"
    done <"$DIR/deeds"
    mv "$DIR/stations.new" "$DIR/stations"
}

# -- the rate C ---------------------------------------------------------------------------------
#
# $DIR/memory has lines of access points and of stations:
#   C class rate, passed bytes, when, passed rate, last delay, growths, rate before, looks at the least, good rate
#   T station base, sent bytes, when it was asked, pings without an answer, late answers, the least of them

# Who has traffic is asked, whoever was asked first before the others.
whom() {
    {
        cat "$DIR/memory"
        sed 's/^/S /' "$DIR/stations"
        estimated
        cat "$DIR/classes"
    } | awk -v now="$now" -v look="$look" -v most="$ASKED" -v file="$DIR/memory.new" '
        $1 == "C" { for (i = 3; i <= 11; i++) ap[$2, i] = $i }
        $1 == "T" { for (i = 3; i <= 8; i++) own[$2, i] = $i }
        $1 == "E" { every[++aps] = $2; largest[$2] = $4 }
        $1 == "S" {
            if (!($2 in address)) { id[++count] = $2; of[$2] = $3; watched[$2] = $4 ? $5 : $3 }
            if (!($2 in address) || ($7 == 4 && family[$2] == 6)) { address[$2] = $8; family[$2] = $7 }
        }
        $1 == "class" { class = $3 }
        $1 == "Sent" { sent[class] = $2 }
        END {
            printf "" >file
            for (k = 1; k <= aps; k++) {
                a = every[k]
                if (ap[a, 3] == "") { ap[a, 3] = ap[a, 9] = ap[a, 11] = largest[a]; ap[a, 7] = -1 }
                passed = sent[a] - ap[a, 4]
                ap[a, 6] = (ap[a, 5] > 0 && now > ap[a, 5]) ? 8 * passed / (now - ap[a, 5]) : 0
                printf "C %s %.0f %.0f %.2f %.0f %.3f %d %.0f %d %.0f\n", a, ap[a, 3], sent[a], now,
                    ap[a, 6], ap[a, 7], ap[a, 8], ap[a, 9], ap[a, 10], ap[a, 11] >file
            }
            for (k = 1; k <= count; k++) {
                s = id[k]
                moved = own[s, 4] == "" ? 0 : sent[watched[s]] - own[s, 4]
                own[s, 4] = sent[watched[s]]
                if (moved > 3000 && (of[s], 3) in ap && (own[s, 6] < 5 || look % 10 == 0)) can[s] = 1
            }
            for (n = 1; n <= most * aps; n++) {
                best = ""
                for (k = 1; k <= count; k++) {
                    s = id[k]
                    if ((s in can) && asked[of[s]] < most && (best == "" || own[s, 5] < own[best, 5])) best = s
                }
                if (best == "") break
                delete can[best]
                asked[of[best]]++
                own[best, 5] = look
                own[best, 6]++
                print best, address[best]
            }
            for (k = 1; k <= count; k++) {
                s = id[k]
                printf "T %s %.3f %.0f %d %d %d %.3f\n", s, own[s, 3], own[s, 4], own[s, 5], own[s, 6],
                    own[s, 7], own[s, 8] >file
            }
        }' >"$DIR/asked"
    mv "$DIR/memory.new" "$DIR/memory"
}

ask() {
    rtt=$(ping -c 1 -W 3 -q "$2" 2>/dev/null | sed -n 's/^.*= *\([0-9.]*\)\/.*$/\1/p')
    [ -z "$rtt" ] || echo "R $1 $rtt" >>"$DIR/answers"
}

ask_all() {
    while read -r id address; do ask "$id" "$address" & done <"$DIR/asked"
    wait
}

# A step of C for each access point by what its stations agree on; all delays in ms.
steps() {
    {
        cat "$DIR/memory"
        sed 's/^/S /' "$DIR/stations"
        estimated
        cat "$DIR/answers"
    } | awk -v file="$DIR/memory.new" '
        $1 == "C" { for (i = 3; i <= 11; i++) ap[$2, i] = $i }
        $1 == "T" { stations[++count] = $2; for (i = 3; i <= 8; i++) own[$2, i] = $i }
        $1 == "E" { every[++aps] = $2; for (i = 3; i <= 7; i++) its[$2, i] = $i }
        $1 == "S" { of[$2] = $3 }
        $1 == "R" && ($2 in of) && (of[$2], 3) in ap { rtt[$2] = $3 }
        END {
            printf "" >file
            for (k = 1; k <= aps; k++) step(every[k])
            for (k = 1; k <= count; k++) {
                s = stations[k]
                printf "T %s %.3f %.0f %d %d %d %.3f\n", s, own[s, 3], own[s, 4], own[s, 5], own[s, 6],
                    own[s, 7], own[s, 8] >file
            }
        }
        # The base is `low` until it is known to be longer, so that a standing queue is none.
        function step(a,    low, threshold, high, n, i, j, s, d, agreed, calm, rate, was, falls) {
            low = its[a, 5]; threshold = its[a, 6]; high = its[a, 7]
            rate = was = ap[a, 3]
            n = 0
            for (s in rtt) if (of[s] == a) {
                own[s, 6] = 0
                if (own[s, 3] < low) own[s, 3] = low
                if (rtt[s] < own[s, 3]) own[s, 3] = rtt[s] > low ? rtt[s] : low
                d = rtt[s] - own[s, 3] + low
                for (i = ++n; i > 1 && sorted[i - 1] > d; i--) sorted[i] = sorted[i - 1]
                sorted[i] = d
            }
            if (n > 0) {
                agreed = sorted[int((n + 1) / 2)]
                calm = low + (threshold - low) / 4
                falls = ap[a, 7] >= 0 && agreed < ap[a, 7] - 30
                if (agreed <= low) {
                    ap[a, 8]++
                    if (ap[a, 6] >= 0.75 * rate) { ap[a, 9] = rate; rate *= @GROW@ }
                } else {
                    if (agreed > high && ap[a, 7] > threshold) {
                        if (!falls) {
                            if (ap[a, 6] < rate) rate = ap[a, 6] > rate / 2 ? ap[a, 6] : rate / 2
                            rate *= @FALL_AT_ONCE@
                        }
                    } else if (agreed > threshold) {
                        if (!falls) rate *= @FALL@
                    } else if (ap[a, 8] >= 3) {
                        if (ap[a, 9] < rate) rate = ap[a, 9]
                    } else if (ap[a, 6] >= 0.75 * rate) rate *= @RISE@
                    ap[a, 8] = 0
                }
                ap[a, 7] = agreed
                # At the least C for long, and still late: it is the path.
                ap[a, 10] = was <= its[a, 3] ? ap[a, 10] + 1 : 0
                raised = 0
                for (s in rtt) if (of[s] == a) {
                    d = rtt[s] - own[s, 3] + low
                    if (d <= calm || (agreed > calm && ap[a, 10] < 6)) { own[s, 7] = 0; continue }
                    own[s, 8] = (own[s, 7] == 0 || rtt[s] < own[s, 8]) ? rtt[s] : own[s, 8]
                    if (++own[s, 7] >= 8) {
                        own[s, 3] = own[s, 8]
                        own[s, 7] = 0
                        if (agreed > calm) raised = 1
                    }
                }
                if (raised && ap[a, 11] > rate) rate = ap[a, 11]
                if (agreed <= calm) ap[a, 11] = rate
                if (rate < its[a, 3]) rate = its[a, 3]
                if (rate > its[a, 4]) rate = its[a, 4]
                rate = int(rate / 8) * 8
                if (rate != was) {
                    burst = int(rate / 8000)
                    printf "%s %.0f %d\n", a, rate, (burst > 1600 ? burst : 1600)
                }
            } else ap[a, 7] = -1
            printf "C %s %.0f %.0f %.2f %.0f %.3f %d %.0f %d %.0f\n", a, rate, ap[a, 4], ap[a, 5],
                ap[a, 6], ap[a, 7], ap[a, 8], ap[a, 9], ap[a, 10], ap[a, 11] >file
        }' >"$DIR/deeds"
    mv "$DIR/memory.new" "$DIR/memory"
    while read -r class rate burst; do
        set_rate "$class" "$rate" "$burst" || say "refused: $class $rate"
    done <"$DIR/deeds"
}

estimate() {
    tc -s class show dev "$IFB" >"$DIR/classes" || fail "$IFB is gone"
    look=$((look + 1))
    whom
    [ -s "$DIR/asked" ] || return 0
    : >"$DIR/answers"
    ask_all 9>&- &
    wait $!
    steps
}

# -- start and stop -----------------------------------------------------------------------------

nap() {
    sleep "$1" 9>&- &
    sleeping=$!
    wait "$sleeping"
    sleeping=
}

holder() { cat "$DIR/pid" 2>/dev/null || echo '?'; }

finish() {
    trap '' HUP INT TERM
    trap - EXIT
    [ -z "$sleeping" ] || kill "$sleeping" 2>/dev/null
    undo || exit 1
    exit "$1"
}

start() {
    flock -n 9 || { sleep 1 9>&- && flock -n 9; } || fail "process $(holder) runs already"
    sleeping=
    trap 'exit 0' HUP TERM
    trap 'exit 130' INT
    trap 'finish $?' EXIT
    undo || exit 1
    check_interfaces
    check_kernel
    echo $$ >"$DIR/pid"
    : >"$DIR/memory"
    listed >"$DIR/stations"
    set_up
    : >"$DIR/up"
    look=0
    while :; do
        read -r now _ </proc/uptime
        if [ -n "$DISCOVER" ] && [ $((${now%.*} - looked)) -ge "$DISCOVER" ]; then
            looked=${now%.*}
            discover
        fi
        [ -z "$ESTIMATES" ] || estimate
        nap "$PAUSE"
    done
}

stop() {
    if ! flock -n 9; then
        kill "$(holder)" 2>/dev/null
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            sleep 1 9>&-
            flock -n 9 && break
        done
        flock -n 9 || fail "process $(holder) does not end"
    fi
    undo
}

umask 077
case ${1-start} in
stop) check_programs ;;
*) check_programs ping ;;
esac
mkdir -p "$DIR" || fail "$DIR cannot be made"
exec 9>>"$DIR/lock" || exit 1
looked=-100000
case ${1-start} in
start) start ;;
stop) stop ;;
*) fail "usage: sh FILE [start | stop]" ;;
esac
