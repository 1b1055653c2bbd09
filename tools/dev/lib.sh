# shellcheck shell=bash disable=SC2034
# What the commands of ./dev share. Sourced with the tree's root as working directory.
set -euo pipefail
root=$PWD

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'dev: %s\n' "$*" >&2; exit 1; }

build_packages=(g++ cmake ninja-build mold ccache libpoco-dev libspdlog-dev libsqlite3-dev libcli11-dev
    libdeflate-dev zlib1g-dev liblz4-dev libzstd-dev libssl-dev libgtest-dev prometheus-cpp-dev rapidjson-dev)
lint_packages=(clang-14 clang-tidy-14 libclang-rt-14-dev shellcheck)

# install PACKAGE…: those that are not there yet, by name, with one line that says so.
install() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing from Debian: ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "these packages are missing and there is no sudo: ${missing[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# from_caller PATH: the path as whoever called ./dev means it.
from_caller() { case $1 in /*) echo "$1" ;; *) echo "${PATCHBAY_CALLED_FROM:-$PWD}/$1" ;; esac; }

# ended PID: gone, or ended and not yet waited for.
ended() {
    local stat
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
    stat=${stat##*) }
    [ "${stat:0:1}" = Z ]
}

# have COMMAND PACKAGE: installs the package only when the command is not there in any form.
have() { command -v "$1" >/dev/null || install "$2"; }

# build PRESET [TARGET…]
build() {
    local preset=$1
    shift
    export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    if [ ! -f "build/$preset/build.ninja" ]; then
        say "configuring build/$preset"
        cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; rm -f "build-$preset.log"; return 1; }
        rm -f "build-$preset.log"
    fi
    say "building build/$preset"
    cmake --build "build/$preset" ${1:+--target "$@"} >&2
}

# free_port: a port that nobody listens on, from a range below the ephemeral ports.
free_port() {
    local port
    for _ in $(seq 200); do
        port=$((20000 + RANDOM % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
    die "found no free port"
}

# wait_gone PID SECONDS
wait_gone() {
    local i
    for ((i = 0; i < $2 * 20; i++)); do
        ended "$1" && return 0
        sleep 0.05
    done
    return 1
}

# ask PORT CODE: sends a request without header fields and prints the answer's header and body as text.
ask() {
    local header="{\"code\":$2,\"flag\":0,\"language\":\"OTHER\",\"opaque\":1,\"serializeTypeCurrentRPC\":\"JSON\",\"version\":479}"
    local size=${#header} hex
    hex=$(printf '%08x%08x' $((size + 4)) "$size" | sed 's/../\\x&/g')
    # shellcheck disable=SC2059
    { exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
    printf "$hex%s" "$header" >&3
    timeout 2 bash -c 'length=$(head -c 4 | od -An -tu1); set -- $length; head -c $(((($1 * 256 + $2) * 256 + $3) * 256 + $4))' <&3 | tr -d '\0'
    exec 3>&-
}
