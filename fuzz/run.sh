#!/usr/bin/env bash
# Fuzzes targets one after the other: ./run.sh SECONDS [TARGET...]; all of them when none is named.
# What is found stays in artifacts/TARGET, what was learned in corpus/TARGET, what was said in corpus/TARGET.log.
set -euo pipefail
cd "$(dirname "$0")"
seconds=$1
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  targets=(native structured trencher litmus litmus_c memorax tpl spec tts lola formula tina pnml mcc
    evidence_program evidence_witness evidence_net costs options roles image)
fi
failed=0
for target in "${targets[@]}"; do
  seeds=(../tests/readers/"$target")
  dictionary=dictionaries/$target.dict
  limits=(-timeout=10 -rss_limit_mb=2048 -max_len=4096)
  case $target in
    native | structured) seeds+=(../models) ;;
    image) dictionary= ;;
    evidence_*) dictionary=dictionaries/evidence.dict; limits+=(-max_len=8192) ;;
  esac
  # The public collections, where they are at hand.
  if [ -n "${PALISADE_CORPUS:-}" ]; then
    case $target in
      trencher) seeds+=("$PALISADE_CORPUS/trencher" "$PALISADE_CORPUS/families") ;;
      litmus) seeds+=("$PALISADE_CORPUS/litmus") ;;
      memorax) seeds+=("$PALISADE_CORPUS"/memorax/*/) ;;
      tpl) seeds+=("$PALISADE_CORPUS"/rocker/*/*/) ;;
    esac
  fi
  mkdir -p "corpus/$target"
  if ! cargo fuzz run --sanitizer none "$target" "corpus/$target" "${seeds[@]}" -- \
    "-max_total_time=$seconds" ${dictionary:+"-dict=$dictionary"} "${limits[@]}" -print_final_stats=1 2> "corpus/$target.log"; then
    failed=1
  fi
  echo "$target: $(grep -c '^SUMMARY' "corpus/$target.log" || true) findings," \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "corpus/$target.log") executions in $seconds s"
done
exit $failed
