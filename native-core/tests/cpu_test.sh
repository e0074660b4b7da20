#!/bin/sh
# The library on CPUs of three levels, emulated by qemu: as fast as it can be on x86-64-v3, the same answers on x86-64-v2, and a refusal
# that names what is missing below. The emulator refuses an instruction that its CPU lacks, as the last check shows.
#
#   cpu_test.sh ABI_TEST KVINDEX_TESTS
set -eu

abi_test=$1
core_tests=$2
qemu=$(command -v qemu-x86_64 || command -v qemu-x86_64-static) || {
    echo "SKIPPED: qemu is missing (Debian: qemu-user), older CPUs were not tried"
    exit 77
}

fail() {
    echo "cpu_test.sh: $*"
    exit 1
}

# What answers differently where another instruction set is chosen.
for cpu in Nehalem Haswell; do
    [ "$("$qemu" -cpu $cpu "$abi_test")" = ok ] || fail "the ABI from C does not work on $cpu"
    KVI_ROUNDS=2 "$qemu" -cpu $cpu "$core_tests" --gtest_brief=1 \
        --gtest_filter='differential*:hashing*:name_map*:page_chain*:walk_isa*' || fail "the index does not work on $cpu"
done

status=0
said=$("$qemu" -cpu core2duo "$abi_test") || status=$?
[ "$status: $said" = '3: this CPU lacks SSE4.1, SSE4.2, POPCNT' ] ||
    fail "a CPU below x86-64-v2 is answered with status $status and: $said"

status=0
"$qemu" -cpu core2duo "$core_tests" --gtest_brief=1 --gtest_filter='name_map*' >/dev/null 2>&1 || status=$?
[ $status = 132 ] || fail "control: the emulated CPU has what it should lack (status $status)"
echo 'Nehalem and Haswell work, core2duo is refused'
