(* Reader of TPL, the language of Rocker (Lahav and Margalit, PLDI 2019; Margalit and Lahav, POPL 2021). An access is relaxed
   unless its text says otherwise. Under release/acquire every access acquires and releases, and a fence for SC is an update of a
   location of its own, as the paper of 2019 has it; under C11 fences for SC are refused. Non-atomic accesses, those of plain
   locations, are relaxed in each model, and races are not looked for. *)
open Refuse

type expression =
  | Number of int
  | Local of string
  | Not of expression
  | Operation of string * expression * expression

type statement =
  | Skip
  | Assign of string * expression
  (* with whether they acquire and whether they release *)
  | Load of string option * string * bool
  | Store of string * expression * bool
  | Add of string option * string * expression * bool * bool
  | Cas of string option * string * expression * expression * bool * bool
  | Blocking_cas of string * expression * expression * bool * bool
  | Exchange of string option * string * expression * bool * bool
  | Wait of string option * string * expression list * bool
  | Fence of bool * bool
  | Sc_fence
  | Assume of expression
  | Goto of string
  | If of expression * statement list * statement list
  | While of expression * statement list
  | One_of of statement list list
  | Label of string

type thread = { name : string; locals : (string * int) list; body : statement list }

type t = { greatest : int; globals : (string * int) list; plain : (string * int) list; threads : thread list }

(* ---- tokens: words, numbers and signs ---- *)

let tokens text =
  let out = ref [] and i = ref 0 and n = String.length text in
  let is_word c = Spec.is_letter c || Spec.is_digit c in
  while !i < n do
    let c = text.[!i] and pair = if !i + 1 < n then String.sub text !i 2 else "" in
    if pair = "//" then (while !i < n && text.[!i] <> '\n' do incr i done)
    else if is_word c then begin
      let from = !i in
      while !i < n && is_word text.[!i] do incr i done;
      out := String.sub text from (!i - from) :: !out end
    else if c = ' ' || c = '\t' || c = '\n' || c = '\r' then incr i
    else if List.mem pair [ "=="; "!="; "<="; ">="; "=>"; "&&"; "||" ] then (out := pair :: !out; i := !i + 2)
    else (out := String.make 1 c :: !out; incr i)
  done;
  List.rev !out

type reader = { mutable left : string list; mutable plain : string list }

let peek r = match r.left with t :: _ -> t | [] -> ""
let next r = match r.left with t :: rest -> r.left <- rest; t | [] -> refuse "the program ends early"
let accept r t = if peek r = t then (ignore (next r); true) else false
let expect r t = let u = next r in if u <> t then refuse "the program: expected `%s`, found `%s`" t u

let is_number t = t <> "" && Spec.is_digit t.[0]
let number r =
  let t = next r in
  match if is_number t then int_of_string_opt t else None with
  | Some n when n < 1 lsl 20 -> n
  | _ -> refuse "the program: `%s` is no number" t
let name r = let t = next r in if t <> "" && Spec.is_letter t.[0] then t else refuse "the program: `%s` is no name" t

(* ---- expressions ---- *)

let levels = [ [ "||" ]; [ "&&" ]; [ "&" ]; [ "=="; "!=" ]; [ "<"; "<="; ">"; ">="; "=>" ]; [ "+"; "-" ]; [ "*"; "/"; "%" ] ]

let rec expression ?(levels = levels) r = match levels with
  | [] -> primary r
  | signs :: tighter ->
    let rec go left =
      if List.mem (peek r) signs then begin
        let sign = next r in
        go (Operation ((if sign = "=>" then ">=" else sign), left, expression ~levels:tighter r)) end
      else left in
    go (expression ~levels:tighter r)
and primary r =
  if accept r "(" then (let e = expression r in expect r ")"; e)
  else if accept r "!" then Not (primary r)
  else if accept r "-" then Operation ("-", Number 0, primary r)
  else if accept r "true" then Number 1
  else if accept r "false" then Number 0
  else if is_number (peek r) then Number (number r)
  else Local (name r)

(* ---- statements ---- *)

(* The arguments of a call, and the orderings behind them; the opening parenthesis is read. *)
let orderings = [ "rlx"; "acq"; "rel"; "acq_rel" ]

let arguments r =
  let rec go before given =
    if accept r ")" then List.rev before, List.rev given
    else begin
      if peek r = "seq_cst" || peek r = "sc" then refuse "accesses for SC are not read";
      let before, given =
        if List.mem (peek r) orderings then (let o = next r in before, o :: given)
        else if given <> [] then refuse "the program: an argument behind an ordering"
        else expression r :: before, given in
      if accept r "," then go before given else (expect r ")"; List.rev before, List.rev given) end in
  go [] []

let atomic r x = if List.mem x r.plain then refuse "the program: an atomic access of the plain location `%s`" x else x
let plain r x = if List.mem x r.plain then x else refuse "the program: a non-atomic access of `%s`, which is not plain" x
let location r = function Local x -> atomic r x | _ -> refuse "the program: a location is expected"

let acquires o = o = "acq" || o = "acq_rel"
let releases o = o = "rel" || o = "acq_rel"

(* Of an access that only reads, or only writes. *)
let of_load = function [] -> false | [ o ] when not (releases o) -> acquires o | _ -> refuse "the program: no ordering of a load"
let of_store = function [] -> false | [ o ] when not (acquires o) -> releases o | _ -> refuse "the program: no ordering of a store"

(* Of an update: that of its load and that of its store. *)
let of_update = function
  | [] -> false, false
  | [ o; o' ] when not (releases o) && not (acquires o') -> acquires o, releases o'
  | _ -> refuse "the program: no orderings of an update"

let update r word into =
  expect r "(";
  let operands, given = arguments r in
  match word, operands with
  | "wait", x :: (_ :: _ as values) -> Wait (into, location r x, values, of_load given)
  | _ ->
    let a, l = of_update given in
    match word, operands with
    | "FADD", [ x; e ] -> Add (into, location r x, e, a, l)
    | "CAS", [ x; e; e' ] -> Cas (into, location r x, e, e', a, l)
    | "BCAS", [ x; e; e' ] when into = None -> Blocking_cas (location r x, e, e', a, l)
    | "exchange", [ x; e ] -> Exchange (into, location r x, e, a, l)
    | _ -> refuse "the program: `%s` has other arguments" word

let is_update word = List.mem word [ "FADD"; "CAS"; "BCAS"; "exchange"; "wait" ]

let rec block r = expect r "{"; statements r
and statements r = if accept r "}" then [] else let s = statement r in s @ statements r
and body r = if peek r = "{" then block r else statement r
and statement r = match next r with
  | ";" -> []
  | "{" -> statements r
  | "skip" -> ended r [ Skip ]
  | "fence" ->
    let kind = if accept r "(" then (let o = next r in expect r ")"; o) else "seq_cst" in
    ended r [ match kind with
      | "acq" -> Fence (true, false) | "rel" -> Fence (false, true) | "acq_rel" -> Fence (true, true)
      | "seq_cst" | "sc" -> Sc_fence
      | o -> refuse "the program: `%s` is no ordering of a fence" o ]
  | "lock" -> let x = atomic r (argument r) in ended r [ Blocking_cas (x, Number 0, Number 1, true, false) ]
  | "unlock" -> let x = atomic r (argument r) in ended r [ Store (x, Number 0, true) ]
  | "assert" | "assume" -> expect r "("; let e = expression r in expect r ")"; ended r [ Assume e ]
  | "verify" -> expect r "("; ignore (arguments r); ended r []
  | "goto" -> let l = name r in ended r [ Goto l ]
  | "if" ->
    let e = expression r in
    if accept r "goto" then (let l = name r in ended r [ If (e, [ Goto l ], []) ])
    else begin
      let yes = body r in
      let no = if accept r "else" then body r else [] in
      [ If (e, yes, no) ] end
  | "while" -> let e = expression r in let b = body r in [ While (e, b) ]
  | "oneof" ->
    expect r "(";
    let rec blocks () = if accept r ")" then [] else let b = block r in ignore (accept r ","); b :: blocks () in
    let all = blocks () in
    ended r [ One_of all ]
  | word when is_update word -> let s = update r word None in ended r [ s ]
  | word ->
    if word = "" || not (Spec.is_letter word.[0]) then refuse "the program: `%s` starts no statement" word;
    if accept r ":" then [ Label word ]
    else if accept r "." then begin
      match name r with
      | "store" -> expect r "(";
        (match arguments r with [ e ], o -> ended r [ Store (atomic r word, e, of_store o) ] | _ -> refuse "the program: a store of no value")
      | "load" -> expect r "("; let a = load_arguments r in ended r [ Load (None, atomic r word, a) ]
      | "nastore" -> expect r "("; let e = expression r in expect r ")"; ended r [ Store (plain r word, e, false) ]
      | "naload" -> expect r "("; expect r ")"; ended r [ Load (None, plain r word, false) ]
      | access -> refuse "the program: `%s.%s` is not read" word access end
    else begin
      expect r "=";
      let first = peek r in
      if is_update first then (ignore (next r); let s = update r first (Some word) in ended r [ s ])
      else match r.left with
        | x :: "." :: "load" :: "(" :: rest ->
          r.left <- rest;
          let a = load_arguments r in
          ended r [ Load (Some word, atomic r x, a) ]
        | x :: "." :: "naload" :: "(" :: ")" :: rest ->
          r.left <- rest;
          ended r [ Load (Some word, plain r x, false) ]
        | _ -> let e = expression r in ended r [ Assign (word, e) ] end
and load_arguments r = match arguments r with [], o -> of_load o | _ -> refuse "the program: a load of a value"
and argument r = expect r "("; let x = name r in expect r ")"; x
and ended r s = expect r ";"; s

let rec declared r =
  let x = name r in
  let v = if accept r "=" then number r else 0 in
  if accept r "," then (x, v) :: declared r else (expect r ";"; [ x, v ])

let read text =
  let r = { left = tokens text; plain = [] } in
  let greatest = if accept r "max_value" then (let n = number r in expect r ";"; n) else 255 in
  let rec all word = if accept r word then (let d = declared r in d @ all word) else [] in
  let globals = all "global" in
  let plain = all "na" in
  r.plain <- List.map fst plain;
  while accept r "track" do while not (accept r ";") do ignore (next r) done done;
  let rec threads () =
    if accept r "fn" then begin
      let name = name r in
      expect r "{";
      let locals = if accept r "local" then declared r else [] in
      let body = statements r in
      let thread = { name; locals; body } in
      thread :: threads () end
    else [] in
  let threads = threads () in
  if peek r <> "" then refuse "the program: `%s` is not expected" (peek r);
  { greatest; globals; plain; threads }
