#!/bin/sh
# The runner tells right answers from wrong ones, and usable files from damaged ones.
#
#   replay_test.sh RUNNER MAKER WORK_DIR MEMORY
#
# RUNNER: kvindex-replay; MAKER: make_small_log; WORK_DIR is made and written to; MEMORY: kvindex-memory.
set -u

runner=$1
maker=$2
memory=$4
mkdir -p "$3" && cd "$3" || exit 1
failed=0

# expect CODE TEXT COMMAND...: the command ends with CODE, and TEXT stands in what it prints.
expect() {
    code=$1
    text=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    if [ "$got" -ne "$code" ]; then
        printf 'exit code %s instead of %s: %s\n%s\n' "$got" "$code" "$*" "$said"
        failed=1
    fi
    case $said in
        *"$text"*) ;;
        *)
            printf 'not said: %s\nby: %s\nbut: %s\n' "$text" "$*" "$said"
            failed=1
            ;;
    esac
}

"$maker" small.oplog small.answers || exit 1

# Right answers, in every variant; there are queries, entries and all of them are compared.
for name in kvindex kvindex-batch kvindex-hits kvindex-batch-hits kvindex-inflight; do
    expect 0 "{\"impl\":\"$name\",\"mode\":\"check\",\"queries\":160,\"wrong_queries\":0,\"entries\":" \
        "$runner" "$name" small.oplog check small.answers
    expect 0 '"wrong_entries":0,"over":0,"under":0,"wrong_best":0,"abs_blocks":0,' \
        "$runner" "$name" small.oplog check small.answers
done
case $("$runner" kvindex small.oplog check small.answers) in
    *'"entries":0,'* | *'"true_blocks":0,'*)
        echo "the small op-log asks for nothing that anyone holds"
        failed=1
        ;;
esac

# Each kind of wrong answer is seen, and on the right side.
control() {
    "$maker" "$1.oplog" "$1.answers" "$1" || failed=1
    cmp small.oplog "$1.oplog" || failed=1
    expect 1 "\"wrong_entries\":1,$2" "$runner" kvindex small.oplog check "$1.answers"
    expect 1 "\"wrong_entries\":1,$2" "$runner" kvindex-inflight small.oplog check "$1.answers"
    expect 1 '"wrong_queries":1,' "$runner" kvindex-batch small.oplog check "$1.answers"
}
control deeper '"over":0,"under":1,'
control shallower '"over":1,"under":0,'
control missing '"over":1,"under":0,'
control extra '"over":0,"under":1,'

# Times: every key of the table is there, each with a number.
for name in kvindex kvindex-batch kvindex-inflight; do
    expect 0 "{\"impl\":\"$name\",\"mode\":\"time\"," "$runner" "$name" small.oplog time
    line=$("$runner" "$name" small.oplog time)
    for key in mixed_mops mixed_cpu_mops events_mblk events_cpu_mblk ns_event q_mean q_p50 q_p99 s_mean s_p50 \
        s_p99 hot; do
        printf '%s\n' "$line" | grep -Eq "\"$key\":[0-9]+(\.[0-9]+)?[,}]" || {
            echo "no number for $key: $line"
            failed=1
        }
    done
done

# Memory: of the same residencies as the op-log counts.
expect 0 'name map: entries' "$memory" small.oplog
case $("$memory" small.oplog) in
    *"residencies  "*"$("$memory" small.oplog | sed -n 's/.*counts \([0-9]*\) residencies/\1/p') "*) ;;
    *)
        echo "the index holds other residencies than the small op-log says"
        failed=1
        ;;
esac
expect 2 'usage' "$memory"
expect 2 'No such file' "$memory" absent.oplog

# Arguments.
expect 2 'too few arguments' "$runner" kvindex small.oplog
expect 2 'unknown NAME other' "$runner" other small.oplog time
expect 2 'unknown mode tine' "$runner" kvindex small.oplog tine
expect 2 'check needs one ANSWERS file' "$runner" kvindex small.oplog check
expect 2 'too many arguments' "$runner" kvindex small.oplog time small.answers
expect 2 'No such file' "$runner" kvindex absent.oplog time

# Files. poke FILE OFFSET OCTAL writes one byte.
poke() {
    printf '%b' "\\0$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
damaged() {
    cp "$1" damaged && poke damaged "$2" "$3"
}
expect 2 'not an op-log' "$runner" kvindex small.answers time
expect 2 'not an answers file' "$runner" kvindex small.oplog check small.oplog
head -c 64 small.oplog >damaged
expect 2 'ends within the header' "$runner" kvindex damaged time
bytes=$(wc -c <small.oplog)
head -c $((bytes - 8)) small.oplog >damaged
expect 2 'ends within a record' "$runner" kvindex damaged time
head -c $((bytes - 3)) small.oplog >damaged
expect 2 'multiple of 8' "$runner" kvindex damaged time
: >damaged
expect 2 'multiple of 8' "$runner" kvindex damaged time
{ cat small.oplog && printf '12345678'; } >damaged
expect 2 '8 bytes behind the last record' "$runner" kvindex damaged time
damaged small.oplog 8 7
expect 2 'op-log version 7' "$runner" kvindex damaged time
damaged small.oplog 12 0
expect 2 '0 workers' "$runner" kvindex damaged time
damaged small.oplog 31 177
expect 2 'too short for the' "$runner" kvindex damaged time
damaged small.oplog 96 11
expect 2 'record 0: unknown kind 9' "$runner" kvindex damaged time
damaged small.oplog 100 106
expect 2 'record 0: worker 70 of 70' "$runner" kvindex damaged time
damaged small.oplog 108 1
expect 2 'record 0: has_parent is 1' "$runner" kvindex damaged time
damaged small.oplog 48 1
expect 2 "the header's sums" "$runner" kvindex damaged time
bytes=$(wc -c <small.answers)
head -c $((bytes - 8)) small.answers >damaged
expect 2 'ends within an answer' "$runner" kvindex small.oplog check damaged
damaged small.answers 24 1
expect 2 'the checksum is wrong' "$runner" kvindex small.oplog check damaged
damaged small.answers 8 0
expect 2 'no answers' "$runner" kvindex small.oplog check damaged
damaged small.answers 40 7
expect 2 'of another one?' "$runner" kvindex small.oplog check damaged

[ "$failed" -eq 0 ] && echo "all as expected"
exit "$failed"
