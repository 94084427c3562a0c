(* XML as nets and questions use it: elements, attributes, text, comments. Names have no prefix, texts are in UTF-8. A document
   type, a section of CDATA, and entities other than the five that XML defines and numbers below 128 are refused. *)
open Refuse

type t = { name : string; attributes : (string * string) list; children : t list; text : string }

(* What is open while a document is read: its children so far, the last one first. *)
type opened = { tag : string; given : (string * string) list; mutable inside : t list; words : Buffer.t }

let is_blank c = c = ' ' || c = '\t' || c = '\n' || c = '\r'
let is_name c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c = '_' || c = '-' || c = '.' || c = ':'

let trim s =
  let n = String.length s in
  let rec first i = if i < n && is_blank s.[i] then first (i + 1) else i in
  let rec last j = if j > 0 && is_blank s.[j - 1] then last (j - 1) else j in
  let i = first 0 in
  if i = n then "" else String.sub s i (last n - i)

let parse text =
  let length = String.length text and at = ref 0 in
  let wrong what = refuse "the XML: %s at byte %d" what !at in
  let peek () = if !at < length then String.unsafe_get text !at else '\000' in
  let is word = stands word text !at in
  let rec past s = if is s then at := !at + String.length s else if !at >= length then wrong "no end" else (incr at; past s) in
  let rec space () = if is_blank (peek ()) then (incr at; space ()) in
  let name () =
    let from = !at in
    while is_name (peek ()) do incr at done;
    if !at = from || (text.[from] >= '0' && text.[from] <= '9') then wrong "no name";
    String.sub text from (!at - from) in
  let entity into =
    incr at;
    let from = !at in
    while !at < length && !at - from < 8 && peek () <> ';' do incr at done;
    let word = String.sub text from (!at - from) in
    if peek () <> ';' then wrong "an entity without end";
    incr at;
    Buffer.add_char into (match word with
      | "lt" -> '<' | "gt" -> '>' | "amp" -> '&' | "apos" -> '\'' | "quot" -> '"'
      | _ ->
        let n = String.length word in
        let digits = if n > 1 && word.[0] = '#' then String.sub word 1 (n - 1) else "" in
        let hexadecimal = digits <> "" && digits.[0] = 'x' in
        let rest = if hexadecimal then String.sub digits 1 (n - 2) else digits in
        let is_digit c = (c >= '0' && c <= '9') || (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) in
        if rest = "" || not (String.for_all is_digit rest) then wrong "an entity that is not read";
        match int_of_string ((if hexadecimal then "0x" else "0u") ^ rest) with
        | code when code < 128 && (code >= 32 || is_blank (Char.chr code)) -> Char.chr code
        | _ -> wrong "an entity that is not read") in
  let attribute () =
    let key = name () in
    space ();
    if peek () <> '=' then wrong "an attribute without value";
    incr at; space ();
    let quote = peek () in
    if quote <> '"' && quote <> '\'' then wrong "an attribute without quotes";
    incr at;
    let value = Buffer.create 16 in
    while !at < length && peek () <> quote do
      match peek () with
      | '<' -> wrong "`<` in an attribute"
      | '&' -> entity value
      | c -> Buffer.add_char value (if is_blank c then ' ' else c); incr at
    done;
    if !at >= length then wrong "an attribute without end";
    incr at;
    key, Buffer.contents value in
  let rec attributes before =
    let blank = is_blank (peek ()) in
    space ();
    match peek () with
    | '>' | '/' -> List.rev before
    | _ ->
      if not blank then wrong "no blank between attributes";
      let key, value = attribute () in
      if List.mem_assoc key before then wrong "an attribute twice";
      attributes ((key, value) :: before) in
  let open_ = ref [] and document = ref None in
  let close (e : opened) =
    let element = { name = e.tag; attributes = e.given; children = List.rev e.inside; text = trim (Buffer.contents e.words) } in
    match !open_ with
    | outer :: _ -> outer.inside <- element :: outer.inside
    | [] -> if !document <> None then wrong "a second root"; document := Some element in
  if is "<?xml" then past "?>";
  (* Text, up to the next tag or entity. *)
  let plain () = match !open_, peek () with
    | e :: _, '&' -> entity e.words
    | e :: _, _ ->
      let from = !at in
      let rec last i =
        if i = length then i
        else match String.unsafe_get text i with
          | '<' | '&' -> i
          | c when c < ' ' && not (is_blank c) -> at := i; wrong "a control character"
          | _ -> last (i + 1) in
      at := last from;
      Buffer.add_substring e.words text from (!at - from)
    | [], c -> if not (is_blank c) then wrong "text outside the root"; incr at in
  while !at < length do
    if peek () <> '<' then plain ()
    else if is "<!--" then begin
      at := !at + 4; past "--";
      if peek () <> '>' then wrong "`--` in a comment";
      incr at end
    else if is "<?" || is "<!" then wrong "a part that is not read"
    else if is "</" then begin
      at := !at + 2;
      let tag = name () in
      space ();
      if peek () <> '>' then wrong "no `>`";
      incr at;
      match !open_ with
      | e :: outer when e.tag = tag -> open_ := outer; close e
      | _ -> wrong "an end of another element" end
    else begin
      incr at;
      let tag = name () in
      if String.contains tag ':' then wrong "a prefix";
      let e = { tag; given = attributes []; inside = []; words = Buffer.create 8 } in
      if peek () = '/' then begin
        incr at;
        if peek () <> '>' then wrong "no `>`";
        incr at;
        close e end
      else (incr at; open_ := e :: !open_) end
  done;
  match !document with Some e when !open_ = [] -> e | _ -> wrong "no end"

let attribute e key = List.assoc_opt key e.attributes
let named name e = e.name = name

(* The only child of this name, if there is one. *)
let child e name = match List.filter (named name) e.children with
  | [] -> None | [ c ] -> Some c | _ -> refuse "the XML: `<%s>` twice in `<%s>`" name e.name
