(** The net of a program: its runs under SC, with a guess of the write [w'] that the last event overlooks, and bits that say
    what comes after it. A target is covered if the last event can come (models/Runs.v, [success]). *)
From Coq Require Import List NArith Bool FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Programs.

(** * Places *)

(** A thread before it has joined; one that has; and three for what it knows, which models tell apart as they need. *)
Inductive mark := Apart | Joined | Suspects | Knows | Fenced.
(** Since [w'], a location was not accessed, was read, was written. *)
Inductive level := Untouched | WasRead | WasWritten.
(** What a location says to who accesses it; [Overlooked] is the location of [w'], of which each access knows. *)
Inductive message := Silent | Heard | Passes | Overlooked.

Inductive spot :=
| At (q : state) (m : mark)
| Holds (x : location) (v : value)
| Touched (x : location) (l : level)
| Says (x : location) (m : message)
| Before                                          (* [w'] is still to come *)
| Behind (v : value) (by_update : bool)           (* what the location of [w'] held before it *)
| Success.

(** Spots as numbers. Nothing depends on different spots having different numbers but that the net has no other runs. *)
Fixpoint code (p rest : positive) : positive :=
  match p with
  | xH => xI rest
  | xO p' => xO (xO (code p' rest))
  | xI p' => xO (xI (code p' rest))
  end.

Definition number_of (s : spot) : positive :=
  match s with
  | At q Apart => xO (xO (xO (xO (xO (code q xH)))))
  | At q Joined => xO (xO (xO (xO (xI (code q xH)))))
  | At q Suspects => xO (xO (xO (xI (xO (code q xH)))))
  | At q Knows => xO (xO (xO (xI (xI (code q xH)))))
  | At q Fenced => xO (xO (xI (xO (xO (code q xH)))))
  | Holds x v => xI (xO (code x (code v xH)))
  | Touched x Untouched => xO (xI (xI (xO (xO (code x xH)))))
  | Touched x WasRead => xO (xI (xI (xO (xI (code x xH)))))
  | Touched x WasWritten => xO (xI (xI (xI (xO (code x xH)))))
  | Says x Silent => xI (xI (xO (xO (code x xH))))
  | Says x Passes => xI (xI (xO (xI (code x xH))))
  | Says x Heard => xI (xI (xI (xI (xI (xI (xO (xI (xI (code x xH)))))))))
  | Says x Overlooked => xI (xI (xI (xO (code x xH))))
  | Before => xI (xI (xI (xI (xO xH))))
  | Success => xI (xI (xI (xI (xI (xO xH)))))
  | Behind v false => xI (xI (xI (xI (xI (xI (xO (code v xH)))))))
  | Behind v true => xI (xI (xI (xI (xI (xI (xI (code v xH)))))))
  end.

Definition tokens (l : list spot) : vec := images (fun s => (number_of s, 1%N)) l.

Definition moves (before after : list spot) : transition := {| pre := tokens before; post := tokens after |}.

(** * Steps *)

(** Whether a thread may go on: it has joined, or it joins by an access that conflicts with one since [w']. *)
Definition joins (writing : bool) (m : mark) (l : level) : bool :=
  match m, l with
  | Apart, Untouched => false
  | Apart, WasRead => writing
  | _, _ => true
  end.

Definition touch (writing : bool) (l : level) : level :=
  if writing then WasWritten else match l with WasWritten => WasWritten | _ => WasRead end.

(** What a model of memory asks for: how the marks of threads and what locations say change. *)
Record rules := {
  told : list message;                                                       (* what locations may say *)
  access_mark : bool -> bool -> bool -> mark -> message -> mark;             (* after an access that reads, writes, acquires *)
  fence_mark : bool -> bool -> mark -> mark;                                 (* after a fence that acquires, releases *)
  passing : bool -> bool -> bool -> mark -> mark -> message -> message;      (* of an access that reads, writes, releases *)
  guess_mark : bool -> mark;                                                 (* of the thread of [w'], which may be an update *)
  last_marks : bool -> list mark }.                                          (* of the last event's thread; it may write *)

Definition marks := [Apart; Joined; Suspects; Knows; Fenced].
Definition levels := [Untouched; WasRead; WasWritten].

Section Rules.
  Variable rl : rules.

(** An access of [x] that finds [v] and leaves [v'], from [q] to [q']. *)
Definition access_moves (reading writing acquiring releasing : bool) (x : location) (v v' : value) (q q' : state) : list transition :=
  (* before w' *)
  moves [At q Apart; Holds x v; Before] [At q' Apart; Holds x v'; Before] ::
  (* as w' *)
  (if writing then
     [moves [At q Apart; Holds x v; Touched x Untouched; Says x Silent; Before]
            [At q' (guess_mark rl reading); Holds x v'; Touched x WasWritten; Says x Overlooked; Behind v reading]]
   else []) ++
  (* after w' *)
  flat_map (fun m => flat_map (fun l => if joins writing m l then map (fun s =>
    let m' := access_mark rl reading writing acquiring m s in
    moves [At q m; Holds x v; Touched x l; Says x s]
          [At q' m'; Holds x v'; Touched x (touch writing l); Says x (passing rl reading writing releasing m m' s)]) (told rl) else []) levels) marks.

(** The last event: it finds what was there before [w'], if it reads; [w'] is no update, if it writes. *)
Definition last_moves (writing : bool) (q : state) (x : location) (v : value) (by_update : bool) : list transition :=
  map (fun m => moves [At q m; Says x Overlooked; Behind v by_update] [Success]) (last_marks rl writing).

(** All values that a location may hold: those at first and those that are written. *)
Definition values_at (known : M.t (list value)) (x : location) : list value :=
  match M.find x known with Some l => l | None => [] end.

Definition note_value (known : M.t (list value)) (a : location * value) : M.t (list value) :=
  let l := values_at known (fst a) in
  if existsb (Pos.eqb (snd a)) l then known else M.add (fst a) (snd a :: l) known.

Definition writes_value (e : edge) : list (location * value) :=
  match does e with Store x v _ => [(x, v)] | Update x _ v _ _ => [(x, v)] | _ => [] end.

Definition known_values (P : program) : M.t (list value) :=
  fold_left (fun known e => fold_left note_value (writes_value e) known) (edges P)
    (fold_left note_value (memory P) (M.empty _)).
Definition values_of (P : program) : location -> list value := values_at (known_values P).

Definition edge_moves (known : M.t (list value)) (e : edge) : list transition :=
  let q := source e in let q' := target e in
  match does e with
  | Internal => map (fun m => moves [At q m] [At q' m]) marks
  | Fence a r => map (fun m => moves [At q m] [At q' (fence_mark rl a r m)]) marks
  | Load x v a => access_moves true false a false x v v q q' ++ last_moves false q x v false ++ last_moves false q x v true
  | Store x v' r => flat_map (fun v => access_moves false true false r x v v' q q' ++ last_moves true q x v false) (values_at known x)
  | Update x v v' a r => access_moves true true a r x v v' q q' ++ last_moves true q x v false
  end.

Definition starting (P : program) : list spot :=
  images (fun q => At q Apart) (fixed P) ++
  collect (fun '(x, v) => [Holds x v; Touched x Untouched; Says x Silent]) (memory P) ++ [Before].

Definition initially_of (P : program) : M.t count :=
  fold_left (fun m q => M.add (number_of (At q Apart)) Omega m) (unbounded P)
    (M.map Fin (sums (tokens (starting P)))).

Definition net_of (P : program) : problem :=
  let known := known_values P in
  {| transitions := collect (edge_moves known) (edges P);
     initially := initially_of P;
     targets := [tokens [Success]] |}.
End Rules.

Lemma note_value_has known a x v : In v (values_at known x) \/ a = (x, v) -> In v (values_at (note_value known a) x).
Proof.
  unfold note_value. destruct (existsb _ _) eqn:X; intros [H|H]; auto.
  - subst. apply existsb_exists in X. destruct X as (u & I & Eq). apply Pos.eqb_eq in Eq. simpl in Eq. now subst.
  - unfold values_at at 1. destruct (Pos.eq_dec x (fst a)) as [->|D]; [rewrite M.gss; simpl; auto|now rewrite M.gso].
  - subst. unfold values_at at 1. simpl. rewrite M.gss. simpl. auto.
Qed.

Lemma note_values_has l : forall known x v, In v (values_at known x) \/ In (x, v) l ->
  In v (values_at (fold_left note_value l known) x).
Proof.
  induction l as [|a l IH]; intros known x v H; simpl in *; [tauto|]. apply IH.
  destruct H as [H|[->|H]]; auto using note_value_has.
Qed.

Lemma values_of_has P x v :
  In (x, v) (memory P) \/ (exists e, In e (edges P) /\ In (x, v) (writes_value e)) -> In v (values_of P x).
Proof.
  unfold values_of, known_values. intros H.
  assert (G : forall es known, In v (values_at known x) \/ (exists e, In e es /\ In (x, v) (writes_value e)) ->
    In v (values_at (fold_left (fun known e => fold_left note_value (writes_value e) known) es known) x)).
  { induction es as [|e es IH]; intros known K; simpl.
    - destruct K as [K|(e & [] & _)]; auto.
    - apply IH. destruct K as [K|(e' & [->|I] & W)]; auto using note_values_has. right. eauto. }
  apply G. destruct H as [H|H]; auto. left. apply note_values_has. auto.
Qed.
