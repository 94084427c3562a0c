/* Addresses that only the way by which control has come tells apart from others: an offset into the
   frame that is 8 on one way and 16 on another, and a pointer that is null or points into the frame. */

volatile unsigned long seed = 0x2d, out[4];

void ways(void) {
  unsigned long bits = seed;
  for (int i = 0; i < 6; i++) {
    volatile unsigned long own[3] = {1, 2, 3};
    unsigned long offset;
    __asm__ volatile("mov $8, %0\n\t"
                     "test $1, %b1\n\t"
                     "jz 1f\n\t"
                     "mov $16, %0\n"
                     "1:\n\t"
                     "addq $5, (%2,%0,1)"
                     : "=&r"(offset)
                     : "r"(bits), "r"(own)
                     : "memory", "cc");
    volatile unsigned long *chosen;
    if (bits & 2)
      __asm__ volatile("" : "=r"(chosen) : "0"(&own[1]));
    else
      __asm__ volatile("" : "=r"(chosen) : "0"(0ul));
    if (chosen)
      *chosen += 100;
    out[i & 3] += own[0] + 16 * own[1] + 256 * own[2] + offset;
    bits = bits / 2;
  }
}
