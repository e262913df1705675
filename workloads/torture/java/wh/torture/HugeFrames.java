// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.Arrays;

/** Methods with 160 locals that live across calls, and methods with 120 long arguments. */
final class HugeFrames implements Worker {
  private static final int LOCALS = 160;
  private static final int ARGUMENTS = 120;
  private static final int MOST_LEVELS = 60;

  private final Context context;

  HugeFrames(Context context) {
    this.context = context;
  }

  @Override
  public void round() {
    for (int i = 0; i < 10 * context.scale; i++) {
      int levels = 1 + context.random.nextInt(MOST_LEVELS);
      long x = context.random.nextInt();
      long[] longs = new long[LOCALS];
      double[] doubles = new double[LOCALS];
      for (int j = 0; j < LOCALS; j++) doubles[j] = longs[j] = x + j;
      long held = levels * (LOCALS * x + LOCALS * (LOCALS - 1L) / 2);
      context.same("the sum of locals", held, context.planted(locals(levels, longs)));
      context.same("the sum of arguments",
          levels * (ARGUMENTS * x + ARGUMENTS * (ARGUMENTS - 1L) / 2), firstOfMany(levels, x));
      context.same("the sum of doubles", held, (long) doubles(levels, doubles));
    }
  }

  // The innermost level changes the array, so that each level has to keep what it has read.
  private static long locals(int levels, long[] c) {
    if (levels == 0) {
      Arrays.fill(c, 0);
      return 0;
    }
    long v0 = c[0], v1 = c[1], v2 = c[2], v3 = c[3], v4 = c[4],
        v5 = c[5], v6 = c[6], v7 = c[7], v8 = c[8], v9 = c[9];
    long v10 = c[10], v11 = c[11], v12 = c[12], v13 = c[13], v14 = c[14],
        v15 = c[15], v16 = c[16], v17 = c[17], v18 = c[18], v19 = c[19];
    long v20 = c[20], v21 = c[21], v22 = c[22], v23 = c[23], v24 = c[24],
        v25 = c[25], v26 = c[26], v27 = c[27], v28 = c[28], v29 = c[29];
    long v30 = c[30], v31 = c[31], v32 = c[32], v33 = c[33], v34 = c[34],
        v35 = c[35], v36 = c[36], v37 = c[37], v38 = c[38], v39 = c[39];
    long v40 = c[40], v41 = c[41], v42 = c[42], v43 = c[43], v44 = c[44],
        v45 = c[45], v46 = c[46], v47 = c[47], v48 = c[48], v49 = c[49];
    long v50 = c[50], v51 = c[51], v52 = c[52], v53 = c[53], v54 = c[54],
        v55 = c[55], v56 = c[56], v57 = c[57], v58 = c[58], v59 = c[59];
    long v60 = c[60], v61 = c[61], v62 = c[62], v63 = c[63], v64 = c[64],
        v65 = c[65], v66 = c[66], v67 = c[67], v68 = c[68], v69 = c[69];
    long v70 = c[70], v71 = c[71], v72 = c[72], v73 = c[73], v74 = c[74],
        v75 = c[75], v76 = c[76], v77 = c[77], v78 = c[78], v79 = c[79];
    long v80 = c[80], v81 = c[81], v82 = c[82], v83 = c[83], v84 = c[84],
        v85 = c[85], v86 = c[86], v87 = c[87], v88 = c[88], v89 = c[89];
    long v90 = c[90], v91 = c[91], v92 = c[92], v93 = c[93], v94 = c[94],
        v95 = c[95], v96 = c[96], v97 = c[97], v98 = c[98], v99 = c[99];
    long v100 = c[100], v101 = c[101], v102 = c[102], v103 = c[103], v104 = c[104],
        v105 = c[105], v106 = c[106], v107 = c[107], v108 = c[108], v109 = c[109];
    long v110 = c[110], v111 = c[111], v112 = c[112], v113 = c[113], v114 = c[114],
        v115 = c[115], v116 = c[116], v117 = c[117], v118 = c[118], v119 = c[119];
    long v120 = c[120], v121 = c[121], v122 = c[122], v123 = c[123], v124 = c[124],
        v125 = c[125], v126 = c[126], v127 = c[127], v128 = c[128], v129 = c[129];
    long v130 = c[130], v131 = c[131], v132 = c[132], v133 = c[133], v134 = c[134],
        v135 = c[135], v136 = c[136], v137 = c[137], v138 = c[138], v139 = c[139];
    long v140 = c[140], v141 = c[141], v142 = c[142], v143 = c[143], v144 = c[144],
        v145 = c[145], v146 = c[146], v147 = c[147], v148 = c[148], v149 = c[149];
    long v150 = c[150], v151 = c[151], v152 = c[152], v153 = c[153], v154 = c[154],
        v155 = c[155], v156 = c[156], v157 = c[157], v158 = c[158], v159 = c[159];
    return locals(levels - 1, c)
        + v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11
        + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23
        + v24 + v25 + v26 + v27 + v28 + v29 + v30 + v31 + v32 + v33 + v34 + v35
        + v36 + v37 + v38 + v39 + v40 + v41 + v42 + v43 + v44 + v45 + v46 + v47
        + v48 + v49 + v50 + v51 + v52 + v53 + v54 + v55 + v56 + v57 + v58 + v59
        + v60 + v61 + v62 + v63 + v64 + v65 + v66 + v67 + v68 + v69 + v70 + v71
        + v72 + v73 + v74 + v75 + v76 + v77 + v78 + v79 + v80 + v81 + v82 + v83
        + v84 + v85 + v86 + v87 + v88 + v89 + v90 + v91 + v92 + v93 + v94 + v95
        + v96 + v97 + v98 + v99 + v100 + v101 + v102 + v103 + v104 + v105 + v106 + v107
        + v108 + v109 + v110 + v111 + v112 + v113 + v114 + v115 + v116 + v117 + v118 + v119
        + v120 + v121 + v122 + v123 + v124 + v125 + v126 + v127 + v128 + v129 + v130 + v131
        + v132 + v133 + v134 + v135 + v136 + v137 + v138 + v139 + v140 + v141 + v142 + v143
        + v144 + v145 + v146 + v147 + v148 + v149 + v150 + v151 + v152 + v153 + v154 + v155
        + v156 + v157 + v158 + v159;
  }

  private static double doubles(int levels, double[] c) {
    if (levels == 0) {
      Arrays.fill(c, 0);
      return 0;
    }
    double d0 = c[0], d1 = c[1], d2 = c[2], d3 = c[3], d4 = c[4],
        d5 = c[5], d6 = c[6], d7 = c[7], d8 = c[8], d9 = c[9];
    double d10 = c[10], d11 = c[11], d12 = c[12], d13 = c[13], d14 = c[14],
        d15 = c[15], d16 = c[16], d17 = c[17], d18 = c[18], d19 = c[19];
    double d20 = c[20], d21 = c[21], d22 = c[22], d23 = c[23], d24 = c[24],
        d25 = c[25], d26 = c[26], d27 = c[27], d28 = c[28], d29 = c[29];
    double d30 = c[30], d31 = c[31], d32 = c[32], d33 = c[33], d34 = c[34],
        d35 = c[35], d36 = c[36], d37 = c[37], d38 = c[38], d39 = c[39];
    double d40 = c[40], d41 = c[41], d42 = c[42], d43 = c[43], d44 = c[44],
        d45 = c[45], d46 = c[46], d47 = c[47], d48 = c[48], d49 = c[49];
    double d50 = c[50], d51 = c[51], d52 = c[52], d53 = c[53], d54 = c[54],
        d55 = c[55], d56 = c[56], d57 = c[57], d58 = c[58], d59 = c[59];
    double d60 = c[60], d61 = c[61], d62 = c[62], d63 = c[63], d64 = c[64],
        d65 = c[65], d66 = c[66], d67 = c[67], d68 = c[68], d69 = c[69];
    double d70 = c[70], d71 = c[71], d72 = c[72], d73 = c[73], d74 = c[74],
        d75 = c[75], d76 = c[76], d77 = c[77], d78 = c[78], d79 = c[79];
    double d80 = c[80], d81 = c[81], d82 = c[82], d83 = c[83], d84 = c[84],
        d85 = c[85], d86 = c[86], d87 = c[87], d88 = c[88], d89 = c[89];
    double d90 = c[90], d91 = c[91], d92 = c[92], d93 = c[93], d94 = c[94],
        d95 = c[95], d96 = c[96], d97 = c[97], d98 = c[98], d99 = c[99];
    double d100 = c[100], d101 = c[101], d102 = c[102], d103 = c[103], d104 = c[104],
        d105 = c[105], d106 = c[106], d107 = c[107], d108 = c[108], d109 = c[109];
    double d110 = c[110], d111 = c[111], d112 = c[112], d113 = c[113], d114 = c[114],
        d115 = c[115], d116 = c[116], d117 = c[117], d118 = c[118], d119 = c[119];
    double d120 = c[120], d121 = c[121], d122 = c[122], d123 = c[123], d124 = c[124],
        d125 = c[125], d126 = c[126], d127 = c[127], d128 = c[128], d129 = c[129];
    double d130 = c[130], d131 = c[131], d132 = c[132], d133 = c[133], d134 = c[134],
        d135 = c[135], d136 = c[136], d137 = c[137], d138 = c[138], d139 = c[139];
    double d140 = c[140], d141 = c[141], d142 = c[142], d143 = c[143], d144 = c[144],
        d145 = c[145], d146 = c[146], d147 = c[147], d148 = c[148], d149 = c[149];
    double d150 = c[150], d151 = c[151], d152 = c[152], d153 = c[153], d154 = c[154],
        d155 = c[155], d156 = c[156], d157 = c[157], d158 = c[158], d159 = c[159];
    return doubles(levels - 1, c)
        + d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9 + d10 + d11
        + d12 + d13 + d14 + d15 + d16 + d17 + d18 + d19 + d20 + d21 + d22 + d23
        + d24 + d25 + d26 + d27 + d28 + d29 + d30 + d31 + d32 + d33 + d34 + d35
        + d36 + d37 + d38 + d39 + d40 + d41 + d42 + d43 + d44 + d45 + d46 + d47
        + d48 + d49 + d50 + d51 + d52 + d53 + d54 + d55 + d56 + d57 + d58 + d59
        + d60 + d61 + d62 + d63 + d64 + d65 + d66 + d67 + d68 + d69 + d70 + d71
        + d72 + d73 + d74 + d75 + d76 + d77 + d78 + d79 + d80 + d81 + d82 + d83
        + d84 + d85 + d86 + d87 + d88 + d89 + d90 + d91 + d92 + d93 + d94 + d95
        + d96 + d97 + d98 + d99 + d100 + d101 + d102 + d103 + d104 + d105 + d106 + d107
        + d108 + d109 + d110 + d111 + d112 + d113 + d114 + d115 + d116 + d117 + d118 + d119
        + d120 + d121 + d122 + d123 + d124 + d125 + d126 + d127 + d128 + d129 + d130 + d131
        + d132 + d133 + d134 + d135 + d136 + d137 + d138 + d139 + d140 + d141 + d142 + d143
        + d144 + d145 + d146 + d147 + d148 + d149 + d150 + d151 + d152 + d153 + d154 + d155
        + d156 + d157 + d158 + d159;
  }

  private static long firstOfMany(int levels, long x) {
    return many(levels,
        x + 0, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9,
        x + 10, x + 11, x + 12, x + 13, x + 14, x + 15, x + 16, x + 17, x + 18, x + 19,
        x + 20, x + 21, x + 22, x + 23, x + 24, x + 25, x + 26, x + 27, x + 28, x + 29,
        x + 30, x + 31, x + 32, x + 33, x + 34, x + 35, x + 36, x + 37, x + 38, x + 39,
        x + 40, x + 41, x + 42, x + 43, x + 44, x + 45, x + 46, x + 47, x + 48, x + 49,
        x + 50, x + 51, x + 52, x + 53, x + 54, x + 55, x + 56, x + 57, x + 58, x + 59,
        x + 60, x + 61, x + 62, x + 63, x + 64, x + 65, x + 66, x + 67, x + 68, x + 69,
        x + 70, x + 71, x + 72, x + 73, x + 74, x + 75, x + 76, x + 77, x + 78, x + 79,
        x + 80, x + 81, x + 82, x + 83, x + 84, x + 85, x + 86, x + 87, x + 88, x + 89,
        x + 90, x + 91, x + 92, x + 93, x + 94, x + 95, x + 96, x + 97, x + 98, x + 99,
        x + 100, x + 101, x + 102, x + 103, x + 104, x + 105, x + 106, x + 107, x + 108, x + 109,
        x + 110, x + 111, x + 112, x + 113, x + 114, x + 115, x + 116, x + 117, x + 118, x + 119);
  }

  private static long many(int levels,
      long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7,
      long a8, long a9, long a10, long a11, long a12, long a13, long a14, long a15,
      long a16, long a17, long a18, long a19, long a20, long a21, long a22, long a23,
      long a24, long a25, long a26, long a27, long a28, long a29, long a30, long a31,
      long a32, long a33, long a34, long a35, long a36, long a37, long a38, long a39,
      long a40, long a41, long a42, long a43, long a44, long a45, long a46, long a47,
      long a48, long a49, long a50, long a51, long a52, long a53, long a54, long a55,
      long a56, long a57, long a58, long a59, long a60, long a61, long a62, long a63,
      long a64, long a65, long a66, long a67, long a68, long a69, long a70, long a71,
      long a72, long a73, long a74, long a75, long a76, long a77, long a78, long a79,
      long a80, long a81, long a82, long a83, long a84, long a85, long a86, long a87,
      long a88, long a89, long a90, long a91, long a92, long a93, long a94, long a95,
      long a96, long a97, long a98, long a99, long a100, long a101, long a102, long a103,
      long a104, long a105, long a106, long a107, long a108, long a109, long a110, long a111,
      long a112, long a113, long a114, long a115, long a116, long a117, long a118, long a119) {
    if (levels == 0) return 0;
    // Rotates the arguments by one, so that each argument moves.
    return many(levels - 1,
        a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,
        a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,
        a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48,
        a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64,
        a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80,
        a81, a82, a83, a84, a85, a86, a87, a88, a89, a90, a91, a92, a93, a94, a95, a96,
        a97, a98, a99, a100, a101, a102, a103, a104, a105, a106, a107, a108, a109, a110, a111, a112,
        a113, a114, a115, a116, a117, a118, a119, a0)
        + a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11
        + a12 + a13 + a14 + a15 + a16 + a17 + a18 + a19 + a20 + a21 + a22 + a23
        + a24 + a25 + a26 + a27 + a28 + a29 + a30 + a31 + a32 + a33 + a34 + a35
        + a36 + a37 + a38 + a39 + a40 + a41 + a42 + a43 + a44 + a45 + a46 + a47
        + a48 + a49 + a50 + a51 + a52 + a53 + a54 + a55 + a56 + a57 + a58 + a59
        + a60 + a61 + a62 + a63 + a64 + a65 + a66 + a67 + a68 + a69 + a70 + a71
        + a72 + a73 + a74 + a75 + a76 + a77 + a78 + a79 + a80 + a81 + a82 + a83
        + a84 + a85 + a86 + a87 + a88 + a89 + a90 + a91 + a92 + a93 + a94 + a95
        + a96 + a97 + a98 + a99 + a100 + a101 + a102 + a103 + a104 + a105 + a106 + a107
        + a108 + a109 + a110 + a111 + a112 + a113 + a114 + a115 + a116 + a117 + a118 + a119;
  }
}
