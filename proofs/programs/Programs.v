(** Programs for any number of threads, and their C11 graphs: accesses are relaxed, acquire or release, fences acquire or
    release. A reader of the claim has to trust this file, [graph] and [sync] in models/Runs.v, and [consistent] and [SC] in models/LastEvent.v. *)
From Coq Require Import List NArith Bool Permutation.
Import ListNotations.
From Palisade Require Import LastEvent Sorting Runs.

(** * Programs *)

(** Locations, values and the states of threads are numbered. A state has the thread's registers in it: a load has an edge for
    each value that it may find, an access of which the address is computed one for each address. *)
Definition location := positive.
Definition value := positive.
Definition state := positive.

Inductive action :=
| Internal
| Load (x : location) (v : value) (acquire : bool)                     (* finds [v] *)
| Store (x : location) (v : value) (release : bool)
| Update (x : location) (v v' : value) (acquire release : bool)        (* finds [v] and leaves [v'] in one step *)
| Fence (acquire release : bool).

Record edge := { source : state; does : action; target : state }.

Record program := {
  edges : list edge;
  memory : list (location * value);              (* the locations, with what they hold at first *)
  fixed : list state;                            (* where the threads start of which there is one *)
  unbounded : list state }.                      (* where any number of threads start *)

(** An instance has the fixed threads and some others, each starting where any number may. *)
Definition instance (P : program) (threads : list state) : Prop :=
  exists others, Permutation threads (fixed P ++ others) /\ forall q, In q others -> In q (unbounded P).

(** * What threads can do *)

Definition access := label location value.

(** The label of an access or a fence; what does not read (or write) has an arbitrary value there, a fence an arbitrary location. *)
Definition label_of (a : action) : option access :=
  match a with
  | Internal => None
  | Load x v a => Some {| is_read := True; is_write := False; at_loc := x; read_val := v; written := xH;
                          acquires := a = true; releases := False |}
  | Store x v r => Some {| is_read := False; is_write := True; at_loc := x; read_val := xH; written := v;
                           acquires := False; releases := r = true |}
  | Update x v v' a r => Some {| is_read := True; is_write := True; at_loc := x; read_val := v; written := v';
                                 acquires := a = true; releases := r = true |}
  | Fence a r => Some {| is_read := False; is_write := False; at_loc := xH; read_val := xH; written := xH;
                         acquires := a = true; releases := r = true |}
  end.

(** From a state these accesses can be done, in this order. *)
Inductive can (P : program) : state -> list access -> Prop :=
| can_stop q : can P q []
| can_move e h : In e (edges P) -> label_of (does e) = None -> can P (target e) h -> can P (source e) h
| can_access e l h : In e (edges P) -> label_of (does e) = Some l -> can P (target e) h -> can P (source e) (l :: h).

(** Threads of an execution: one for the first write of each location, and the program's. *)
Inductive thread := First (x : location) | Thread (n : nat).

Lemma thread_dec (a b : thread) : {a = b} + {a <> b}.
Proof. decide equality; [apply Pos.eq_dec | apply PeanoNat.Nat.eq_dec]. Defined.

Definition first_write (x : location) (v : value) : access :=
  {| is_read := False; is_write := True; at_loc := x; read_val := xH; written := v; acquires := False; releases := False |}.

Definition behaviour (P : program) (threads : list state) (t : thread) (h : list access) : Prop :=
  match t with
  | First x => h = [] \/ exists v, In (x, v) (memory P) /\ h = [first_write x v]
  | Thread n => exists q, nth_error threads n = Some q /\ can P q h
  end.

(** * Executions *)

(** Events with program order [po], reads-from [rf] and modification order [mo]. First writes come first in [mo]; that
    nothing else is before them in happens-before makes no difference, as only [mo] and [fr] could lead back to them. *)
Record execution (E : Type) := {
  tid : E -> thread;
  lab : E -> access;
  po : E -> E -> Prop;
  rf : E -> E -> Prop;
  mo : E -> E -> Prop }.
Arguments tid {E}. Arguments lab {E}. Arguments po {E}. Arguments rf {E}. Arguments mo {E}.

Definition reads {E} (X : execution E) (a : E) := is_read _ _ (lab X a).
Definition writes {E} (X : execution E) (a : E) := is_write _ _ (lab X a).
Definition place_of {E} (X : execution E) (a : E) := at_loc _ _ (lab X a).

Record well_formed {E} (X : execution E) : Prop := {
  po_tid : forall a b, po X a b -> tid X a = tid X b;
  po_total : forall a b, tid X a = tid X b -> a = b \/ po X a b \/ po X b a;
  rf_write : forall a b, rf X a b -> writes X a;
  rf_read : forall a b, rf X a b -> reads X b;
  rf_loc : forall a b, rf X a b -> place_of X a = place_of X b;
  rf_val : forall a b, rf X a b -> read_val _ _ (lab X b) = written _ _ (lab X a);
  rf_fun : forall a b r, rf X a r -> rf X b r -> a = b;
  mo_write : forall a b, mo X a b -> writes X a /\ writes X b;
  mo_loc : forall a b, mo X a b -> place_of X a = place_of X b;
  mo_trans : forall a b c, mo X a b -> mo X b c -> mo X a c;
  mo_irr : forall a, ~ mo X a a;
  mo_total : forall a b, writes X a -> writes X b -> place_of X a = place_of X b -> a = b \/ mo X a b \/ mo X b a;
  mo_first : forall a b x, tid X a = First x -> writes X b -> place_of X b = x -> a = b \/ mo X a b }.

(** The events [l], in an order that respects [po] and [rf], are a graph of the program with these threads. *)
Definition graph_of {E} (P : program) (threads : list state) (X : execution E) (l : list E) : Prop :=
  Runs.graph thread location value (behaviour P threads) E (tid X) (lab X) (po X) (rf X) thread_dec l.

(** Consistency of C11 as of 2020 (RC20 of Margalit and Lahav) for these accesses. Where all accesses acquire and release, it is
    release/acquire. *)
Definition C11_consistent {E} (X : execution E) (l : list E) : Prop :=
  consistent E (po X) (rf X) (mo X) (writes X) (sync location value E (lab X) (po X) (rf X)) (events E l).
Definition SC_consistent {E} (X : execution E) (l : list E) : Prop :=
  SC E (po X) (rf X) (mo X) (events E l).

(** * The claim: whatever the number of threads, C11 allows nothing that SC does not. *)
Definition robust (P : program) : Prop :=
  forall threads, instance P threads ->
  forall (E : Type) (X : execution E) (l : list E),
  well_formed X -> graph_of P threads X l -> C11_consistent X l -> SC_consistent X l.
