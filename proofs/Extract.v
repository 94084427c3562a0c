(** The checkers as OCaml. Numbers stay Coq's own, so nothing about OCaml's integers is assumed. *)
From Coq Require Import Extraction ExtrOcamlBasic FMapPositive NArith ZArith.
From Palisade Require Import Net Maps Omega Downward Invariant Upward Run Programs AttackNet Start C11Rules TSORules Drawn Violation.
Extraction Language OCaml.
Extraction "proved.ml" check_downward check_separator check_upward check_run check_program net_of c11 tso_rules check_c11_violation check_tso_violation M.add M.empty M.fold N.add N.sub N.mul N.ltb.
