(* JSON (RFC 8259) as evidence uses it: numbers are integers, no field is given twice, nothing is nested deeper than 128. *)
open Refuse

type t = Null | Bool of bool | Num of string | Str of string | Arr of t list | Obj of (string * t) list

let deepest = 128

let add_code b code =
  if code < 0x80 then Buffer.add_char b (Char.chr code)
  else begin
    let continued shift = Buffer.add_char b (Char.chr (0x80 lor ((code lsr shift) land 0x3f))) in
    if code < 0x800 then (Buffer.add_char b (Char.chr (0xc0 lor (code lsr 6))); continued 0)
    else if code < 0x10000 then (Buffer.add_char b (Char.chr (0xe0 lor (code lsr 12))); continued 6; continued 0)
    else (Buffer.add_char b (Char.chr (0xf0 lor (code lsr 18))); continued 12; continued 6; continued 0) end

let parse text =
  let at = ref 0 and length = String.length text in
  let wrong what = refuse "malformed evidence: %s at byte %d" what !at in
  let peek () = if !at < length then String.unsafe_get text !at else '\000' in
  let rec space () = match peek () with ' ' | '\n' | '\t' | '\r' -> incr at; space () | _ -> () in
  let expect c = if peek () <> c then wrong (Printf.sprintf "no `%c`" c); incr at in
  let word w value =
    let n = String.length w in
    if !at + n > length || String.sub text !at n <> w then wrong "no value";
    at := !at + n; value in
  let hex () =
    let digit c = match c with
      | '0' .. '9' -> Char.code c - 48 | 'a' .. 'f' -> Char.code c - 87 | 'A' .. 'F' -> Char.code c - 55
      | _ -> wrong "no hexadecimal digit" in
    let code = ref 0 in
    for _ = 1 to 4 do code := 16 * !code + digit (peek ()); incr at done;
    !code in
  let string () =
    expect '"';
    let b = Buffer.create 16 in
    let rec go () =
      if !at >= length then wrong "a string without end";
      match text.[!at] with
      | '"' -> incr at
      | '\\' ->
        incr at;
        let c = peek () in
        incr at;
        (match c with
         | '"' | '\\' | '/' -> Buffer.add_char b c
         | 'b' -> Buffer.add_char b '\b' | 'f' -> Buffer.add_char b '\012' | 'n' -> Buffer.add_char b '\n'
         | 'r' -> Buffer.add_char b '\r' | 't' -> Buffer.add_char b '\t'
         | 'u' ->
           let code = hex () in
           if code land 0xfc00 = 0xd800 then begin
             expect '\\'; expect 'u';
             let low = hex () in
             if low land 0xfc00 <> 0xdc00 then wrong "half a surrogate pair";
             add_code b (0x10000 + ((code land 0x3ff) lsl 10) + (low land 0x3ff)) end
           else if code land 0xfc00 = 0xdc00 then wrong "half a surrogate pair"
           else add_code b code
         | _ -> wrong "an escape of no meaning");
        go ()
      | c -> if c < ' ' then wrong "a control character in a string"; Buffer.add_char b c; incr at; go () in
    go ();
    Buffer.contents b in
  let number () =
    let from = !at in
    if peek () = '-' then incr at;
    let digits = !at in
    let rec go () = match peek () with '0' .. '9' -> incr at; go () | _ -> () in
    go ();
    if !at = digits || (text.[digits] = '0' && !at > digits + 1) then wrong "no number";
    (match peek () with '.' | 'e' | 'E' -> wrong "a number that is no integer" | _ -> ());
    Num (String.sub text from (!at - from)) in
  let rec value depth =
    if depth > deepest then wrong "too deep a nesting";
    space ();
    let v = match peek () with
      | '"' -> Str (string ())
      | '[' -> incr at; space (); if peek () = ']' then (incr at; Arr []) else elements depth []
      | '{' -> incr at; space (); if peek () = '}' then (incr at; Obj []) else fields depth []
      | 'n' -> word "null" Null | 't' -> word "true" (Bool true) | 'f' -> word "false" (Bool false)
      | _ -> number () in
    space (); v
  and elements depth before =
    let all = value (depth + 1) :: before in
    if peek () = ',' then (incr at; elements depth all) else (expect ']'; Arr (List.rev all))
  and fields depth before =
    space ();
    let name = string () in
    space (); expect ':';
    let v = value (depth + 1) in
    if List.mem_assoc name before then wrong (Printf.sprintf "field `%s` twice" name);
    let all = (name, v) :: before in
    if peek () = ',' then (incr at; fields depth all) else (expect '}'; Obj (List.rev all)) in
  let v = value 0 in
  if !at <> length then wrong "something after the object";
  v

(* The values of exactly these fields, in this order. *)
let fields names = function
  | Obj given ->
    List.iter (fun (name, _) -> if not (List.mem name names) then refuse "malformed evidence: unknown field `%s`" name) given;
    List.map (fun name ->
      match List.assoc_opt name given with Some v -> v | None -> refuse "malformed evidence: no field `%s`" name) names
  | _ -> refuse "malformed evidence: no object with the fields %s" (String.concat ", " names)

let list = function Arr l -> l | _ -> refuse "malformed evidence: no list"
let string = function Str s -> s | _ -> refuse "malformed evidence: no string"
