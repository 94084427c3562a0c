(* Decompression of gzip (RFC 1951, 1952): what it gives has the length and the CRC-32 that the file states. *)
open Refuse

(* What unpacks to more is refused. *)
let longest = 1 lsl 32

let crc_table = Array.init 256 (fun n ->
  let c = ref n in
  for _ = 1 to 8 do c := if !c land 1 = 1 then 0xedb88320 lxor (!c lsr 1) else !c lsr 1 done;
  !c)

let crc32 bytes from until =
  let c = ref 0xffffffff in
  for i = from to until - 1 do
    c := Array.unsafe_get crc_table ((!c lxor Char.code (Bytes.unsafe_get bytes i)) land 255) lxor (!c lsr 8)
  done;
  !c lxor 0xffffffff

(* A code as a table over its first [root] bits, read from the low end: 16 times the symbol and the length of its word;
   longer words are found by counting, bit by bit. 0 stands for what is not there. *)
type code = { root : int; table : int array; counts : int array; symbols : int array }

let reversed word length =
  let r = ref 0 in
  for i = 0 to length - 1 do if word land (1 lsl i) <> 0 then r := !r lor (1 lsl (length - 1 - i)) done;
  !r

let code_of lengths =
  let counts = Array.make 16 0 in
  Array.iter (fun l -> counts.(l) <- counts.(l) + 1) lengths;
  counts.(0) <- 0;
  let left = ref 1 and first = Array.make 17 0 and offset = Array.make 17 0 in
  for l = 1 to 15 do
    left := 2 * !left - counts.(l);
    if !left < 0 then refuse "damaged gzip data: too many words in a code";
    first.(l + 1) <- 2 * (first.(l) + counts.(l));
    offset.(l + 1) <- offset.(l) + counts.(l)
  done;
  let root = 10 and symbols = Array.make (Array.length lengths) 0 in
  let table = Array.make (1 lsl root) 0 and place = Array.copy offset in
  Array.iteri (fun symbol l ->
    if l > 0 then begin
      let word = first.(l) + place.(l) - offset.(l) in
      symbols.(place.(l)) <- symbol;
      place.(l) <- place.(l) + 1;
      if l <= root then begin
        let at = ref (reversed word l) in
        while !at < 1 lsl root do table.(!at) <- (symbol lsl 4) lor l; at := !at + (1 lsl l) done
      end
    end) lengths;
  { root; table; counts; symbols }

type state = {
  data : string; mutable at : int;
  mutable bits : int; mutable held : int;          (* bits that are read and not used *)
  mutable out : Bytes.t; mutable length : int }

let need s n =
  while s.held < n do
    if s.at >= String.length s.data then refuse "damaged gzip data: it ends early";
    s.bits <- s.bits lor (Char.code (String.unsafe_get s.data s.at) lsl s.held);
    s.at <- s.at + 1; s.held <- s.held + 8
  done

let take s n =
  need s n;
  let r = s.bits land (1 lsl n - 1) in
  s.bits <- s.bits lsr n; s.held <- s.held - n; r

(* Fills up to [n] bits as far as there are any. *)
let fill s n =
  while s.held < n && s.at < String.length s.data do
    s.bits <- s.bits lor (Char.code (String.unsafe_get s.data s.at) lsl s.held);
    s.at <- s.at + 1; s.held <- s.held + 8
  done

let slow_symbol s code =
  let rec go word first index l =
    if l > 15 then refuse "damaged gzip data: a word of no code";
    let word = word lor take s 1 in
    let count = code.counts.(l) in
    if word - count < first then code.symbols.(index + word - first)
    else go ((word) lsl 1) ((first + count) lsl 1) (index + count) (l + 1) in
  go 0 0 0 1

let symbol s code =
  fill s 15;
  let found = code.table.(s.bits land (1 lsl code.root - 1)) in
  let l = found land 15 in
  if l > 0 && l <= s.held then (s.bits <- s.bits lsr l; s.held <- s.held - l; found lsr 4) else slow_symbol s code

let room s n =
  if s.length + n > Bytes.length s.out then begin
    if s.length + n > longest then refuse "the gzip data holds more than %d bytes" longest;
    let larger = Bytes.create (max (s.length + n) (2 * Bytes.length s.out)) in
    Bytes.blit s.out 0 larger 0 s.length;
    s.out <- larger
  end

let base_length = [| 3; 4; 5; 6; 7; 8; 9; 10; 11; 13; 15; 17; 19; 23; 27; 31; 35; 43; 51; 59; 67; 83; 99; 115; 131; 163; 195; 227; 258 |]
let extra_length = [| 0; 0; 0; 0; 0; 0; 0; 0; 1; 1; 1; 1; 2; 2; 2; 2; 3; 3; 3; 3; 4; 4; 4; 4; 5; 5; 5; 5; 0 |]
let base_distance = [| 1; 2; 3; 4; 5; 7; 9; 13; 17; 25; 33; 49; 65; 97; 129; 193; 257; 385; 513; 769; 1025; 1537; 2049; 3073; 4097; 6145; 8193; 12289; 16385; 24577 |]
let extra_distance = [| 0; 0; 0; 0; 1; 1; 2; 2; 3; 3; 4; 4; 5; 5; 6; 6; 7; 7; 8; 8; 9; 9; 10; 10; 11; 11; 12; 12; 13; 13 |]

let copy s distance n =
  room s n;
  if distance > s.length then refuse "damaged gzip data: a copy of what is not there";
  if distance >= n then Bytes.blit s.out (s.length - distance) s.out s.length n
  else for i = s.length to s.length + n - 1 do Bytes.set s.out i (Bytes.get s.out (i - distance)) done;
  s.length <- s.length + n

let rec compressed s literals distances =
  let w = symbol s literals in
  if w < 256 then begin
    room s 1;
    Bytes.set s.out s.length (Char.unsafe_chr w);
    s.length <- s.length + 1;
    compressed s literals distances end
  else if w > 256 then begin
    if w > 285 then refuse "damaged gzip data: a length of no code";
    let n = base_length.(w - 257) + take s extra_length.(w - 257) in
    let d = symbol s distances in
    if d > 29 then refuse "damaged gzip data: a distance of no code";
    copy s (base_distance.(d) + take s extra_distance.(d)) n;
    compressed s literals distances end

let fixed =
  let length i = if i < 144 then 8 else if i < 256 then 9 else if i < 280 then 7 else 8 in
  lazy (code_of (Array.init 288 length), code_of (Array.make 30 5))

let dynamic s =
  let literals = take s 5 + 257 in
  let distances = take s 5 + 1 in
  let given = take s 4 + 4 in
  if literals > 286 || distances > 30 then refuse "damaged gzip data: a code of no size";
  let order = [| 16; 17; 18; 0; 8; 7; 9; 6; 10; 5; 11; 4; 12; 3; 13; 2; 14; 1; 15 |] in
  let lengths = Array.make 19 0 in
  for i = 0 to given - 1 do lengths.(order.(i)) <- take s 3 done;
  let code = code_of lengths and all = Array.make (literals + distances) 0 and at = ref 0 in
  let repeat value n =
    if !at + n > Array.length all then refuse "damaged gzip data: too many lengths";
    Array.fill all !at n value; at := !at + n in
  while !at < Array.length all do
    match symbol s code with
    | 16 -> if !at = 0 then refuse "damaged gzip data: no length to repeat";
      let last = all.(!at - 1) in repeat last (3 + take s 2)
    | 17 -> repeat 0 (3 + take s 3)
    | 18 -> repeat 0 (11 + take s 7)
    | l -> repeat l 1
  done;
  code_of (Array.sub all 0 literals), code_of (Array.sub all literals distances)

let rec blocks s =
  let last = take s 1 in
  (match take s 2 with
   | 0 ->
     ignore (take s (s.held land 7));
     let n = take s 16 in
     let complement = take s 16 in
     if n lxor complement <> 0xffff then refuse "damaged gzip data: a length that does not agree";
     room s n;
     for i = 0 to n - 1 do Bytes.set s.out (s.length + i) (Char.unsafe_chr (take s 8)) done;
     s.length <- s.length + n
   | 1 -> let literals, distances = Lazy.force fixed in compressed s literals distances
   | 2 -> let literals, distances = dynamic s in compressed s literals distances
   | _ -> refuse "damaged gzip data: a block of no kind");
  if last = 0 then blocks s

let is_gzip data = String.length data >= 2 && data.[0] = '\x1f' && data.[1] = '\x8b'

(* One member after the other, as gzip allows. *)
let rec members s =
  let byte () = take s 8 in
  if byte () <> 0x1f || byte () <> 0x8b || byte () <> 8 then refuse "damaged gzip data: a header of no kind";
  let flags = byte () in
  for _ = 1 to 6 do ignore (byte ()) done;
  let rec text () = if byte () <> 0 then text () in
  if flags land 4 <> 0 then (let n = take s 16 in for _ = 1 to n do ignore (byte ()) done);
  if flags land 8 <> 0 then text ();
  if flags land 16 <> 0 then text ();
  if flags land 2 <> 0 then ignore (take s 16);
  if flags land 0xe0 <> 0 then refuse "damaged gzip data: flags of no meaning";
  let from = s.length in
  blocks s;
  ignore (take s (s.held land 7));
  let word () = let low = take s 16 in low lor (take s 16 lsl 16) in
  let crc = word () in
  let length = word () in
  if (s.length - from) land 0xffffffff <> length then refuse "damaged gzip data: its length differs";
  if crc32 s.out from s.length <> crc then refuse "damaged gzip data: its CRC differs";
  if s.held > 0 || s.at < String.length s.data then members s

let unpack data =
  let stated = String.length data - 4 in
  let size = if stated < 0 then 0 else Int32.to_int (String.get_int32_le data stated) land 0xffffffff in
  (* A hint only: deflate packs at most 1,032 to 1. *)
  let size = min size (1032 * String.length data) in
  let s = { data; at = 0; bits = 0; held = 0; out = Bytes.create (size + 1); length = 0 } in
  members s;
  Bytes.sub_string s.out 0 s.length
