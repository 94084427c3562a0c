#!/bin/sh
# Builds the images of this folder again. They are committed, so that tests do not depend on the compiler of the day.
# Usage: build.sh [SOURCE OUTPUT OPTIONS...]
set -e
cd "$(dirname "$0")"
build() {
    source=$1 output=$2
    shift 2
    gcc -ffile-prefix-map="$PWD=." -gdwarf-4 -gno-as-locview-support -ffreestanding -fcf-protection=none -fno-stack-protector \
        -fno-asynchronous-unwind-tables -fno-pie -no-pie -nostdlib -static -fno-jump-tables "$@" \
        -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-e,0 "$source.c" -o "$output"
}
if [ $# -ge 2 ]; then build "$@"; exit; fi
build rare rare -O2
build refused refused -O1 -ftls-model=local-exec
build reached reached -O1
build sleep sleep -O2
traps="-O2 -fexceptions -fasynchronous-unwind-tables -fjump-tables"
build traps traps $traps
build traps traps-moved $traps -Wl,-Ttext-segment=0x10000000
rustc --edition 2024 -C opt-level=3 -C panic=abort -C relocation-model=static -C debuginfo=1 -C codegen-units=1 \
    --remap-path-prefix="$PWD=." --emit obj --crate-type lib vanish.rs -o vanish.o
gcc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-e,0 vanish.o -o vanish-O3
rm vanish.o
for level in 0 1 2 3 s; do
    build guess "guess-O$level" "-O$level"
    build ring "ring-O$level" "-O$level"
    build spin "spin-O$level" "-O$level"
    build halves "halves-O$level" "-O$level"
    build peterson "peterson-O$level" "-O$level"
    build peterson "peterson-weak-O$level" "-O$level" -DSTORE=memory_order_release -DLOAD=memory_order_acquire
    build peterson "peterson-fence-O$level" "-O$level" -DSTORE=memory_order_release -DLOAD=memory_order_acquire -DFENCE
    build wake "wake-O$level" "-O$level"
    build wake "wake-fence-O$level" "-O$level" -DFENCE
    build deque "deque-O$level" "-O$level"
    build twins "twins-O$level" "-O$level"
    build twins "twins-fence-O$level" "-O$level" -DFENCE
    build deque "deque-fence-O$level" "-O$level" -DFENCE
done
# Without optimisation, for what is said of every compilation; and with it, which must be noticed.
rust() {
    rustc --edition 2024 -C opt-level="$2" -C panic=abort -C relocation-model=static -C jump-tables=no -C debuginfo=2 \
        -C codegen-units=1 -C overflow-checks=off --remap-path-prefix="$PWD=." --emit obj --crate-type lib "$1.rs" -o "$1.o"
    # Panics of the library, by their names.
    nm -u "$1.o" | awk 'BEGIN { print ".section .note.GNU-stack,\"\",@progbits\n.text" } { printf ".globl %s\n.type %s,@function\n%s: ud2\n.size %s, .-%s\n", $2, $2, $2, $2, $2 }' > panics.s
    gcc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-e,0 "$1.o" panics.s -o "$1-O$2"
    rm "$1.o" panics.s
}
rust orderings 0
rust orderings 2
rust plain 0
