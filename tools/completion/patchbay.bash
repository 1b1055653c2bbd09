# Completion of `patchbay` for bash. Installed as share/bash-completion/completions/patchbay; in a shell: source this file.
# Keys after -D come from `patchbay --print-config` of the configuration that the line names.

_patchbay() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i config=()
    compopt +o default
    COMPREPLY=()
    case $previous in
        -c | --config) mapfile -t COMPREPLY < <(compgen -f -X '!*.conf' -- "$word"; compgen -d -- "$word"); compopt -o filenames; return ;;
        --inspect) mapfile -t COMPREPLY < <(compgen -f -X '!*.so' -- "$word"; compgen -d -- "$word"); compopt -o filenames; return ;;
        -n | --namesrv) return ;;
        -D | --define)
            [[ $word != *=* ]] || return
            for ((i = 1; i < COMP_CWORD - 1; i++)); do
                case ${COMP_WORDS[i]} in -c | --config) config=(-c "${COMP_WORDS[i + 1]}") ;; esac
            done
            mapfile -t COMPREPLY < <(compgen -S = -W "$("${COMP_WORDS[0]}" --print-config "${config[@]}" 2>/dev/null |
                sed -n 's/^\([A-Za-z][A-Za-z0-9.]*\) *=.*/\1/p')" -- "$word")
            compopt -o nospace
            return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W '--help --config --define --namesrv --check --print-config --explain --inspect --config-doc --default-config
        --errors-doc --manual --version -h -c -D -n -V' -- "$word")
}
complete -o default -F _patchbay patchbay
