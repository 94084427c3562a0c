
val negb : bool -> bool

type nat =
| O
| S of nat

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> nat

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val compOpp : comparison -> comparison

val add : nat -> nat -> nat

val eqb : bool -> bool -> bool

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac :
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 sig
 end

module Nat :
 sig
  val eqb : nat -> nat -> bool

  val leb : nat -> nat -> bool

  val ltb : nat -> nat -> bool

  val eq_dec : nat -> nat -> bool
 end

val nth_error : 'a1 list -> nat -> 'a1 option

val rev_append : 'a1 list -> 'a1 list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val seq : nat -> nat -> nat list

type 'x compare =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts :
 functor (O:OrderedType) ->
 sig
  module TO :
   sig
    type t = O.t
   end

  module IsTO :
   sig
   end

  module OrderTac :
   sig
   end

  val eq_dec : O.t -> O.t -> bool

  val lt_dec : O.t -> O.t -> bool

  val eqb : O.t -> O.t -> bool
 end

module KeyOrderedType :
 functor (O:OrderedType) ->
 sig
  module MO :
   sig
    module TO :
     sig
      type t = O.t
     end

    module IsTO :
     sig
     end

    module OrderTac :
     sig
     end

    val eq_dec : O.t -> O.t -> bool

    val lt_dec : O.t -> O.t -> bool

    val eqb : O.t -> O.t -> bool
   end
 end

type positive =
| XI of positive
| XO of positive
| XH

type n =
| N0
| Npos of positive

type z =
| Z0
| Zpos of positive
| Zneg of positive

module Pos :
 sig
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos :
 sig
  val succ : positive -> positive

  val add : positive -> positive -> positive

  val add_carry : positive -> positive -> positive

  val pred_double : positive -> positive

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  val succ_double_mask : mask -> mask

  val double_mask : mask -> mask

  val double_pred_mask : positive -> mask

  val sub_mask : positive -> positive -> mask

  val sub_mask_carry : positive -> positive -> mask

  val mul : positive -> positive -> positive

  val compare_cont : comparison -> positive -> positive -> comparison

  val compare : positive -> positive -> comparison

  val eqb : positive -> positive -> bool

  val eq_dec : positive -> positive -> bool
 end

module N :
 sig
  val add : n -> n -> n

  val sub : n -> n -> n

  val mul : n -> n -> n

  val compare : n -> n -> comparison

  val eqb : n -> n -> bool

  val leb : n -> n -> bool

  val ltb : n -> n -> bool
 end

module Z :
 sig
  val double : z -> z

  val succ_double : z -> z

  val pred_double : z -> z

  val pos_sub : positive -> positive -> z

  val add : z -> z -> z

  val opp : z -> z

  val sub : z -> z -> z

  val mul : z -> z -> z

  val compare : z -> z -> comparison

  val leb : z -> z -> bool

  val ltb : z -> z -> bool

  val max : z -> z -> z

  val to_N : z -> n

  val of_N : n -> z
 end

module PositiveOrderedTypeBits :
 sig
  type t = positive

  val compare : t -> t -> positive compare

  val eq_dec : positive -> positive -> bool
 end

val append : positive -> positive -> positive

module PositiveMap :
 sig
  module E :
   sig
    type t = positive

    val compare : t -> t -> positive compare

    val eq_dec : positive -> positive -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = positive
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : positive -> positive -> bool

      val lt_dec : positive -> positive -> bool

      val eqb : positive -> positive -> bool
     end
   end

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> nat

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

module M :
 sig
  module E :
   sig
    type t = positive

    val compare : t -> t -> positive compare

    val eq_dec : positive -> positive -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = positive
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : positive -> positive -> bool

      val lt_dec : positive -> positive -> bool

      val eqb : positive -> positive -> bool
     end
   end

  type key = positive

  type 'a tree = 'a PositiveMap.tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> nat

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

type place = positive

type vec = (place * n) list

type marking = place -> n

type count =
| Fin of n
| Omega

type transition = { pre : vec; post : vec }

type problem = { transitions : transition list; initially : count M.t;
                 targets : vec list }

val oget : count M.t -> place -> count

val images : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val collect : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val number : 'a1 list -> 'a1 M.t

val number_some : unit M.t -> 'a1 list -> 'a1 M.t

val unwind : positive -> positive -> positive

val entries_at : (positive -> 'a1 -> bool) -> positive -> 'a1 M.t -> bool

val entries : (positive -> 'a1 -> bool) -> 'a1 M.t -> bool

val den : n M.t -> marking

val nval : n option -> n

val plus : vec -> n M.t -> n M.t

val minus : vec -> n M.t -> n M.t

val sums : vec -> n M.t

val mle : n M.t -> n M.t -> bool

val ole : count -> count -> bool

val oval : count option -> count

val leq : count M.t -> count M.t -> bool

val osub : count -> n -> count

val oadd : count -> n -> count

val take : vec -> count M.t -> count M.t

val put : vec -> count M.t -> count M.t

val successor : count M.t -> transition -> count M.t

val enough : count M.t -> vec -> bool

type prepared = { made_of : transition; rises : place list }

val prepare : transition -> prepared

val key0 : transition -> place option

type index = { keyed : prepared list M.t; unkeyed : prepared list }

val bucket : index -> place -> prepared list

val insert : index -> transition -> index

val index_of : transition list -> index

val forall_enabled : index -> count M.t -> (prepared -> bool) -> bool

val inside :
  (count M.t -> positive option) -> count M.t M.t -> count M.t -> bool

val stays : count M.t -> prepared -> bool

val check_downward :
  problem -> count M.t list -> (count M.t -> positive option) -> bool

val zval : z option -> z

val kget : z M.t -> place -> z

val tsum : z M.t -> (positive -> z) -> z

val kadd : place -> z -> z M.t -> z M.t

val vdot_onto : z M.t -> vec -> z -> z

val vdot : z M.t -> vec -> z

val mdot : z M.t -> n M.t -> z

type trap = { trap_places : place list; multiplier : z }

type refutation = { weights : z M.t; traps : trap list }

val mem0 : unit M.t -> place -> bool

val touches : (place -> bool) -> vec -> bool

val meets : unit M.t -> n M.t -> bool

val disabled : unit M.t -> transition -> bool

val check_siphon : problem -> unit M.t -> bool

val start : problem -> place -> z

val check_weights : problem -> unit M.t -> z M.t -> bool

val to_set : place list -> unit M.t

val check_trap : problem -> unit M.t -> trap -> bool

val lower : z -> place list -> z M.t -> z M.t

val coefficients : refutation -> z M.t

val bound : problem -> refutation -> z

val check_refutation : problem -> unit M.t -> refutation -> bool

type separator = z M.t * z

val separator_of : problem -> unit M.t -> refutation -> separator option

val refutes : separator -> n M.t -> bool

val outside : unit M.t -> separator list -> n M.t -> bool

val separators_onto :
  problem -> unit M.t -> refutation list -> separator list -> separator list
  option

val separators :
  problem -> unit M.t -> refutation list -> separator list option

val refutes_each : unit M.t -> vec list -> separator list -> bool

val check_separator : problem -> unit M.t -> refutation list -> bool

type producers = transition list M.t

val of_place : producers -> place -> transition list

val note : transition -> producers -> producers

val producers_of : transition list -> producers

val predecessor : n M.t -> transition -> n M.t

val above : (n M.t -> positive option) -> n M.t M.t -> n M.t -> bool

val check_upward :
  problem -> unit M.t -> refutation list -> n M.t list -> (n M.t -> positive
  option) -> bool

type run =
| Stop
| Fire of positive
| Then of run * run
| Repeat of positive * run

type eff = (z * z) M.t

val eval : (z * z) option -> z * z

val both :
  ((z * z) -> (z * z) -> z * z) -> (z * z) option -> (z * z) option ->
  (z * z) option

val seq0 : eff -> eff -> eff

val times : positive -> eff -> eff

val entry : eff -> place -> z * z

val taking : vec -> eff -> eff

val putting : vec -> eff -> eff

val effect_of : transition -> eff

val effect : transition M.t -> run -> eff option

val apply : eff -> n M.t -> n M.t option

val exec : transition M.t -> run -> n M.t -> n M.t option

val begin0 : problem -> n M.t -> n M.t

val check_run : problem -> n M.t -> unit M.t -> run -> bool

type ('loc, 'val0) label = { at_loc : 'loc; read_val : 'val0; written : 'val0 }

type location = positive

type value = positive

type state = positive

type action =
| Internal
| Load of location * value * bool
| Store of location * value * bool
| Update of location * value * value * bool * bool
| Fence of bool * bool

type edge = { source : state; does : action; target : state }

type program = { edges : edge list; memory : (location * value) list;
                 fixed : state list; unbounded : state list }

type access = (location, value) label

val label_of : action -> access option

type thread =
| First of location
| Thread of nat

val thread_dec : thread -> thread -> bool

val first_write : location -> value -> access

type mark =
| Apart
| Joined
| Suspects
| Knows
| Fenced

type level =
| Untouched
| WasRead
| WasWritten

type message =
| Silent
| Heard
| Passes
| Overlooked

type spot =
| At of state * mark
| Holds of location * value
| Touched of location * level
| Says of location * message
| Before
| Behind of value * bool
| Success

val code : positive -> positive -> positive

val number_of : spot -> positive

val tokens : spot list -> vec

val moves : spot list -> spot list -> transition

val joins : bool -> mark -> level -> bool

val touch : bool -> level -> level

type rules = { told : message list;
               access_mark : (bool -> bool -> bool -> mark -> message -> mark);
               fence_mark : (bool -> bool -> mark -> mark);
               passing : (bool -> bool -> bool -> mark -> mark -> message ->
                         message); guess_mark : (bool -> mark);
               last_marks : (bool -> mark list) }

val marks : mark list

val levels : level list

val access_moves :
  rules -> bool -> bool -> bool -> bool -> location -> value -> value ->
  state -> state -> transition list

val last_moves :
  rules -> bool -> state -> location -> value -> bool -> transition list

val values_at : value list M.t -> location -> value list

val note_value : value list M.t -> (location * value) -> value list M.t

val writes_value : edge -> (location * value) list

val known_values : program -> value list M.t

val edge_moves : rules -> value list M.t -> edge -> transition list

val starting : program -> spot list

val initially_of : program -> count M.t

val net_of : rules -> program -> problem

val location_of : action -> location option

val listed_once : location list -> unit M.t -> unit M.t option

val check_program : program -> bool

val has_cur : mark -> bool

val has_acq : mark -> bool

val has_rel : mark -> bool

val mark_with : bool -> bool -> bool -> mark

val is_passed : message -> bool

val is_overlooked : message -> bool

val after_access : bool -> bool -> mark -> message -> mark

val after_fence : bool -> bool -> mark -> mark

val pass : bool -> bool -> bool -> mark -> mark -> message -> message

val c11 : rules

val is_reached : mark -> bool

val by_read : mark -> bool

val at_home : mark -> bool

val is_heard : message -> bool

val is_written : message -> bool

val at_guess : message -> bool

val follows_on : bool -> bool -> mark -> message -> bool

val reached_mark : bool -> bool -> mark -> message -> mark

val reached_message : bool -> bool -> mark -> message -> message

val tso_rules : rules

type deed =
| Wrote of location * value
| Did of nat * action

type event = { deed_of : deed; source_of : nat option; rank_of : nat }

val nothing : access

val label_of_deed : deed -> access

val thread_of : deed -> thread

val reading : deed -> bool

val writing : deed -> bool

val acquiring : deed -> bool

val releasing : deed -> bool

val ev : event list -> nat -> event option

val test : event list -> (deed -> bool) -> nat -> bool

val lab_at : event list -> nat -> access

val tid_at : event list -> nat -> thread

val src : event list -> nat -> nat option

val rank : event list -> nat -> nat

val same_place : event list -> nat -> nat -> bool

val po_b : event list -> nat -> nat -> bool

val rf_b : event list -> nat -> nat -> bool

val mo_b : event list -> nat -> nat -> bool

val fr_b : event list -> nat -> nat -> bool

val all : event list -> (nat -> bool) -> bool

val sources_fit : event list -> bool

val ranks_fit : event list -> bool

val firsts_fit : event list -> bool

val fits : event list -> bool

val action_eqb : action -> action -> bool

val edge_eqb : edge -> edge -> bool

val walks : program -> state -> edge list -> action list -> bool

val acts_of : event list -> nat -> action list

val paths_fit :
  event list -> program -> nat -> state list -> edge list list -> bool

val deeds_fit : event list -> program -> state list -> bool

val contains :
  event list -> (nat -> nat -> bool) -> (nat -> nat -> bool) -> bool

val transitive : event list -> (nat -> nat -> bool) -> bool

val irreflexive : event list -> (nat -> nat -> bool) -> bool

val accesses_b : event list -> nat -> bool

val eco_step : event list -> nat -> nat -> bool

val sc_step : event list -> nat -> nat -> bool

type relations = { sequences : (nat -> nat -> bool);
                   happens : (nat -> nat -> bool);
                   ecos : (nat -> nat -> bool);
                   common : (nat -> nat -> bool);
                   coherent : (nat -> nat -> bool) }

val sequences_fit : event list -> relations -> bool

val makes_known_b : event list -> nat -> nat -> bool

val learns_b : event list -> nat -> nat -> bool

val sync_b : event list -> relations -> nat -> nat -> bool

val hb_step : event list -> relations -> nat -> nat -> bool

val atomic_b : event list -> bool

val c11_b : event list -> relations -> bool

val ppo_b : event list -> nat -> nat -> bool

val ghb_step : event list -> nat -> nat -> bool

val uni_step : event list -> nat -> nat -> bool

val tso_b : event list -> relations -> bool

val chain : event list -> nat -> nat list -> nat -> bool

val cycle_b : event list -> nat list -> bool

val starts_fit : program -> state list -> bool

val check_violation :
  (event list -> relations -> bool) -> program -> state list -> event list ->
  edge list list -> relations -> nat list -> bool

val check_c11_violation :
  program -> state list -> event list -> edge list list -> relations -> nat
  list -> bool

val check_tso_violation :
  program -> state list -> event list -> edge list list -> relations -> nat
  list -> bool
