# Completion of `./dev` for bash: source this file in the tree's root.

_patchbay_dev() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} here
    here=$(dirname "${COMP_WORDS[0]}")
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "help $(cd "$here/tools/dev" 2>/dev/null && find . -maxdepth 1 -type f -perm -100 -printf '%P ')" -- "$word")
        return
    fi
    case $command in
        up)
            if [ "$COMP_CWORD" = 2 ]; then
                mapfile -t COMPREPLY < <(compgen -d -- "$word")
                compopt -o filenames
            elif [ "$COMP_CWORD" -ge 5 ]; then
                mapfile -t COMPREPLY < <(compgen -W '--brokers --no-namesrv --namesrv-only --wait store=mmap store=sqlite' -- "$word")
            fi ;;
        down)
            if [ "$COMP_CWORD" = 2 ]; then
                mapfile -t COMPREPLY < <(compgen -d -- "$word")
                compopt -o filenames
            else
                mapfile -t COMPREPLY < <(compgen -W '-9' -- "$word")
            fi ;;
        build)
            mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/.*{"name": "\([a-z-]*\)".*/\1/p' "$here/CMakePresets.json" | grep -vx base)" -- "$word") ;;
        interop)
            mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^group_\([a-z0-9_]*\)().*/\1/p' "$here/tools/dev/interop")" -- "$word") ;;
        bench) mapfile -t COMPREPLY < <(compgen -W 'compare size sqlite store' -- "$word") ;;
        run) mapfile -t COMPREPLY < <(compgen -W '-D --check --print-config' -- "$word") ;;
    esac
}
complete -F _patchbay_dev ./dev dev
