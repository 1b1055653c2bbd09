#!/usr/bin/env bash
# A day of the vending machine fleet: all services against one broker, some of them killed on the way, the books checked in the evening.
#   day.sh PROGRAMS NAME-SERVERS [ORDERS]
set -u
[ $# -ge 2 ] || { echo "usage: day.sh PROGRAMS NAME-SERVERS [ORDERS]" >&2; exit 2; }
programs=$1 servers=$2 orders=${3:-100}
folder=$(mktemp -d)
declare -A pids

start() {  # start NAME PROGRAM [MORE]
    "$programs/$2" "$servers" "$folder" ${3:-} >>"$folder/$1.log" 2>&1 &
    pids[$1]=$!
}
evening() {
    for name in "${!pids[@]}"; do kill "${pids[$name]}" 2>/dev/null; done
    wait
    rm -rf "$folder"
}
trap evening EXIT
within() {  # within SECONDS COMMAND…
    local end=$((SECONDS + $1)); shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.5
    done
}
crash() {  # killed as by a power cut, and started again by its supervisor
    echo "  $1 is killed and comes back"
    kill -9 "${pids[$1]}"
    wait "${pids[$1]}" 2>/dev/null
    start "$@"
}

echo "morning: the services start"
"$programs/config" "$servers" "$folder" || exit 1
start payments payments
start stock stock
start door door
start push push
start timeouts timeouts
start erp erp
start north device north
start south device south

echo "noon: $orders orders"
"$programs/orders" "$servers" "$folder" "$orders" &
customers=$!
within 30 test -s "$folder/paid.book" || { echo "nobody pays"; cat "$folder"/*.log; exit 1; }
crash stock stock
crash payments payments
crash south device south
crash timeouts timeouts
wait "$customers" || { echo "orders were lost"; exit 1; }

echo "afternoon: what is on its way arrives"
within 150 "$programs/books" "$servers" "$folder" quiet || { "$programs/books" "$servers" "$folder" day; tail -n 3 "$folder"/*.log; exit 1; }

echo "evening: the head office is up again"
"$programs/replay" "$servers" "$folder" || exit 1
"$programs/books" "$servers" "$folder"
