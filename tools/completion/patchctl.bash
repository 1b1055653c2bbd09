# Completion of `patchctl` for bash. Made by `patchctl completion bash`; in a shell: source it.
# Topics and groups are asked of the cluster that NAMESRV_ADDR names.

_patchctl() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} before='' words='' options='' i
    COMPREPLY=()
    case $previous in
        --type) mapfile -t COMPREPLY < <(compgen -W 'NORMAL FIFO DELAY TRANSACTION' -- "$word"); return ;;
        --consume) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
        --broadcast) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
        --orderly) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word"); return ;;
        --from-kind) mapfile -t COMPREPLY < <(compgen -W 'mmap sqlite' -- "$word"); return ;;
        --to-kind) mapfile -t COMPREPLY < <(compgen -W 'mmap sqlite' -- "$word"); return ;;
        --file | -f | --directory) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames; return ;;
    esac
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in -*) ;; *) before+="${before:+ }${COMP_WORDS[i]}" ;; esac
    done
    case $before in
        "") words='topic route group offset message cluster broker top config plugin why-stuck store bench completion manual markdown version help' ;;
        "topic") words='list show create set delete groups' ;;
        "group") words='list show client create set delete' ;;
        "offset") words='show reset clone' ;;
        "message") words='send get tail replay' ;;
        "cluster") words='list' ;;
        "broker") words='status producers fence unfence' ;;
        "config") words='get set diff reload explain' ;;
        "plugin") words='list inspect reload enable disable top new' ;;
        "store") words='info check dump repair convert backup check-database' ;;
        "bench") words='send' ;;
    esac
    case $before in
        'topic '* | route | 'message send' | 'message get' | 'message tail' | 'bench send')
            [ "$before" = 'topic list' ] || [ "$before" = 'topic create' ] ||
                words=$(patchctl topic list --json 2>/dev/null | grep -o '"topic":"[^"]*' | cut -d'"' -f4 | sort -u) ;;
        'group '* | 'offset '* | 'message replay' | why-stuck)
            [ "$before" = 'group list' ] || [ "$before" = 'group create' ] ||
                words=$(patchctl group list --json 2>/dev/null | grep -o '"group":"[^"]*' | cut -d'"' -f4 | sort -u) ;;
    esac
    case $before in
        "topic list") options='--all' ;;
        "topic create") options='--queues --perm --order --type' ;;
        "topic set") options='--queues --perm --dry-run' ;;
        "topic delete") options='--dry-run' ;;
        "group client") options='--stack' ;;
        "group create") options='--retry-max --retry-queues --consume --broadcast --orderly' ;;
        "group set") options='--retry-max --retry-queues --consume --broadcast --orderly' ;;
        "group delete") options='--keep-offsets --dry-run' ;;
        "offset show") options='--topic' ;;
        "offset reset") options='--topic --to --queue --force --dry-run' ;;
        "offset clone") options='--topic --dry-run' ;;
        "message send") options='--body --file --tags --keys --property --delay-level --queue --count' ;;
        "message get") options='--key --begin --end --max' ;;
        "message tail") options='--follow --lines --tags --key --grep --property --count' ;;
        "message replay") options='--to --begin --max --dry-run' ;;
        "broker fence") options='--dry-run' ;;
        "top") options='--interval --count' ;;
        "config get") options='--nameserver' ;;
        "config set") options='--nameserver --dry-run' ;;
        "config diff") options='--nameserver' ;;
        "plugin disable") options='--force --dry-run' ;;
        "plugin new") options='--directory --code' ;;
        "store info") options='--commit-log' ;;
        "store check") options='--commit-log' ;;
        "store dump") options='--commit-log --topic --queue --begin --end --max --bodies' ;;
        "store repair") options='--commit-log --dry-run' ;;
        "store convert") options='--from-kind --to-kind --segment-bytes --batch-topic --leave-out --dry-run' ;;
        "bench send") options='--threads --size --seconds --messages' ;;
    esac
    options+=' --namesrv --broker --cluster --timeout --json --help'
    case $word in -*) words=$options ;; esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _patchctl patchctl
