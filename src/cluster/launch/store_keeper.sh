#!/bin/sh
# Ends a store that nobody uses any more: whoever started it was killed, and could not. weft writes it into the store's folder as it stands
# here; it lives as long as the server does.
#
#     $1 pid of the server
#     $2 its port, four hexadecimal digits
#     $3 seconds without a connection after which it ends
#     $4 its folder
#     $5 yes: the folder goes with it
#     $6 the note of it among the stores of this machine
#
# Whether somebody is connected is what the kernel says: no password, no TLS, nothing that could hang.
pid=$1 port=$2 most=$3 folder=$4 temporary=$5 note=$6
pause=$((most / 6))
[ "$pause" -ge 1 ] || pause=1
[ "$pause" -le 10 ] || pause=10
lives() {
    read -r name 2>/dev/null <"/proc/$pid/comm" && [ "$name" = redis-server ]
}
used() {
    for table in /proc/net/tcp /proc/net/tcp6; do
        [ -r "$table" ] || continue
        while read -r _ local _ state _; do
            case $local/$state in *:"$port/01") return 0 ;; esac
        done <"$table"
    done
    return 1
}
idle=0
while lives; do
    if used; then
        idle=0
    elif [ -d "$folder" ]; then
        idle=$((idle + pause))
    else
        idle=$((most + 1)) # somebody has removed it: nothing could be kept
    fi
    if [ "$idle" -gt "$most" ]; then
        kill -TERM "$pid"
        while lives; do sleep 1; done
        [ "$temporary" != yes ] || { rm -rf "$folder" && rmdir "${folder%/*}" 2>/dev/null; }
        break
    fi
    sleep "$pause"
done
rm -f "$note"
