(* SHA-256 (FIPS 180-4) of a string, in hexadecimal. Words of 32 bits in OCaml's 63. *)

let k = [|
  0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5;
  0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe; 0x9bdc06a7; 0xc19bf174;
  0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da;
  0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7; 0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967;
  0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85;
  0xa2bfe8a1; 0xa81a664b; 0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070;
  0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
  0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2 |]

let mask = 0xffffffff

(* [x] is below 2^32; the two halves of the doubled word overlap so that a shift rotates. *)
let rotate x n = ((x lsr n) lor (x lsl (32 - n))) land mask

let block h w text at =
  for t = 0 to 15 do w.(t) <- Int32.to_int (String.get_int32_be text (at + 4 * t)) land mask done;
  for t = 16 to 63 do
    let x = w.(t - 15) and y = w.(t - 2) in
    let s0 = rotate x 7 lxor rotate x 18 lxor (x lsr 3) and s1 = rotate y 17 lxor rotate y 19 lxor (y lsr 10) in
    w.(t) <- (w.(t - 16) + s0 + w.(t - 7) + s1) land mask
  done;
  let rec round t a b c d e f g i =
    if t = 64 then begin
      h.(0) <- (h.(0) + a) land mask; h.(1) <- (h.(1) + b) land mask; h.(2) <- (h.(2) + c) land mask;
      h.(3) <- (h.(3) + d) land mask; h.(4) <- (h.(4) + e) land mask; h.(5) <- (h.(5) + f) land mask;
      h.(6) <- (h.(6) + g) land mask; h.(7) <- (h.(7) + i) land mask end
    else begin
      let s1 = rotate e 6 lxor rotate e 11 lxor rotate e 25 and choice = (e land f) lxor (lnot e land mask land g) in
      let one = i + s1 + choice + k.(t) + w.(t) in
      let s0 = rotate a 2 lxor rotate a 13 lxor rotate a 22 and majority = (a land b) lxor (a land c) lxor (b land c) in
      round (t + 1) ((one + s0 + majority) land mask) a b c ((d + one) land mask) e f g end in
  round 0 h.(0) h.(1) h.(2) h.(3) h.(4) h.(5) h.(6) h.(7)

let hex text =
  let h = [| 0x6a09e667; 0xbb67ae85; 0x3c6ef372; 0xa54ff53a; 0x510e527f; 0x9b05688c; 0x1f83d9ab; 0x5be0cd19 |] in
  let w = Array.make 64 0 and length = String.length text in
  let whole = length / 64 in
  for i = 0 to whole - 1 do block h w text (64 * i) done;
  let rest = length - 64 * whole in
  let tail = Bytes.make (if rest < 56 then 64 else 128) '\000' in
  Bytes.blit_string text (64 * whole) tail 0 rest;
  Bytes.set tail rest '\x80';
  Bytes.set_int64_be tail (Bytes.length tail - 8) (Int64.of_int (8 * length));
  let tail = Bytes.to_string tail in
  for i = 0 to String.length tail / 64 - 1 do block h w tail (64 * i) done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") h))
