# Completion of `patchctl` for bash. Made by `patchctl completion bash`; in a shell: source it.
# Topics and groups are asked of the cluster that --namesrv or NAMESRV_ADDR names.

_patchctl_names() { # topic|group NAMESRV
    patchctl "$1" list --json ${2:+-n "$2"} 2>/dev/null | grep -o "\"$1\":\"[^\"]*" | cut -d'"' -f4 | sort -u
}

_patchctl() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} before='' words='' options='' at='' i
    COMPREPLY=()
    # The shell takes HOST:PORT and --option=value for three words each.
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in --namesrv | -n)
            at=${COMP_WORDS[i + 1]}
            [ "${COMP_WORDS[i + 2]}" != : ] || at+=:${COMP_WORDS[i + 3]} ;;
        esac
        case ${COMP_WORDS[i]} in
            : | =) i=$((i + 1)) ;;
            --namesrv | -n | --broker | -b | --cluster | -c | --timeout | --queues | -q | --perm | -p | --type | --retry-max | -r | --retry-queues | --consume | --broadcast | --orderly | --topic | -t | --to | --queue | --body | -d | --file | -f | --tags | --keys | -k | --property | -P | --delay-level | --count | --key | --begin | --end | --max | --lines | -l | --grep | -g | --interval | -i | --directory | --code | --commit-log | --from-kind | --to-kind | --segment-bytes | --delay-levels | --batch-topic | --leave-out | --threads | -w | --size | -s | --seconds | --messages | --from)
                [ "${COMP_WORDS[i + 1]}" != = ] || i=$((i + 1))
                i=$((i + 1)) ;;
            -*) ;;
            *) before+="${before:+ }${COMP_WORDS[i]}" ;;
        esac
    done
    case $before in
        "") words='topic route group offset message cluster broker top config plugin why-stuck store bench completion manual markdown version help' ;;
        "topic") words='list show create set delete groups' ;;
        "group") words='list show client create set delete' ;;
        "offset") words='show reset clone' ;;
        "message") words='send get tail replay' ;;
        "cluster") words='list' ;;
        "broker") words='status producers fence unfence' ;;
        "config") words='get set unset diff reload explain' ;;
        "plugin") words='list inspect reload enable disable top new' ;;
        "store") words='info check dump repair convert backup check-database' ;;
        "bench") words='send pull' ;;
        'topic create'* | 'group create'*) ;;
        'topic '* | route | 'message send' | 'message get' | 'message tail' | 'bench send') words=$(_patchctl_names topic "$at") ;;
        'group '* | 'offset '* | 'message replay' | why-stuck) words=$(_patchctl_names group "$at") ;;
    esac
    case $before in
        'topic list' | 'topic list '*) options='--all' ;;
        'topic create' | 'topic create '*) options='--queues --perm --order --type' ;;
        'topic set' | 'topic set '*) options='--queues --perm --dry-run' ;;
        'topic delete' | 'topic delete '*) options='--dry-run' ;;
        'topic groups' | 'topic groups '*) options='--all' ;;
        'group client' | 'group client '*) options='--stack' ;;
        'group create' | 'group create '*) options='--retry-max --retry-queues --consume --broadcast --orderly' ;;
        'group set' | 'group set '*) options='--retry-max --retry-queues --consume --broadcast --orderly' ;;
        'group delete' | 'group delete '*) options='--keep-offsets --dry-run' ;;
        'offset show' | 'offset show '*) options='--topic' ;;
        'offset reset' | 'offset reset '*) options='--topic --to --queue --force --dry-run' ;;
        'offset clone' | 'offset clone '*) options='--topic --dry-run' ;;
        'message send' | 'message send '*) options='--body --file --tags --keys --property --delay-level --queue --count' ;;
        'message get' | 'message get '*) options='--key --begin --end --max' ;;
        'message tail' | 'message tail '*) options='--follow --lines --tags --key --grep --property --count' ;;
        'message replay' | 'message replay '*) options='--to --begin --max --dry-run' ;;
        'broker fence' | 'broker fence '*) options='--dry-run' ;;
        'top' | 'top '*) options='--interval --count' ;;
        'config get' | 'config get '*) options='--nameserver' ;;
        'config set' | 'config set '*) options='--nameserver --dry-run' ;;
        'config unset' | 'config unset '*) options='--nameserver --dry-run' ;;
        'config diff' | 'config diff '*) options='--nameserver' ;;
        'plugin disable' | 'plugin disable '*) options='--force --dry-run' ;;
        'plugin new' | 'plugin new '*) options='--directory --code' ;;
        'store info' | 'store info '*) options='--commit-log' ;;
        'store check' | 'store check '*) options='--commit-log' ;;
        'store dump' | 'store dump '*) options='--commit-log --topic --queue --begin --end --max --bodies' ;;
        'store repair' | 'store repair '*) options='--commit-log --dry-run' ;;
        'store convert' | 'store convert '*) options='--from-kind --to-kind --segment-bytes --delay-levels --batch-topic --leave-out --dry-run' ;;
        'bench send' | 'bench send '*) options='--threads --size --seconds --messages' ;;
        'bench pull' | 'bench pull '*) options='--threads --from --seconds --messages' ;;
    esac
    options+=' --namesrv --broker --cluster --timeout --json --help'
    case $word in -*) words=$options ;; esac
    case $previous in
        --type) words='NORMAL FIFO DELAY TRANSACTION' ;;
        --consume) words='yes no' ;;
        --broadcast) words='yes no' ;;
        --orderly) words='yes no' ;;
        --topic | -t) words=$(_patchctl_names topic "$at") ;;
        --file | -f) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        --directory) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        --from-kind) words='mmap sqlite' ;;
        --to-kind) words='mmap sqlite' ;;
        --batch-topic) words=$(_patchctl_names topic "$at") ;;
        --leave-out) words=$(_patchctl_names topic "$at") ;;
        --from) words='first end' ;;
        --namesrv | -n | --broker | -b | --cluster | -c | --timeout | --queues | -q | --perm | -p | --retry-max | -r | --retry-queues | --to | --queue | --body | -d | --tags | --keys | -k | --property | -P | --delay-level | --count | --key | --begin | --end | --max | --lines | -l | --grep | -g | --interval | -i | --code | --commit-log | --segment-bytes | --delay-levels | --threads | -w | --size | -s | --seconds | --messages) return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _patchctl patchctl
