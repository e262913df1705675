// SPDX-License-Identifier: Apache-2.0
package wh;

/** guard-pages: recursion that ends close to the guard pages, with room for the walk itself. */
final class GuardPages {
  // Stack left below the last frame for the walker and the harness, which run on this stack.
  private static final long LEFT_BYTES = 160L << 10;

  private GuardPages() {}

  static void play() {
    Harness.expect("interpreted", GuardPages.class, "interpDive", "(J)J");
    Harness.arm();
    interpDive(1);
  }

  /** Has some 2 KiB of locals, so that a few hundred activations fill the stack. */
  private static long interpDive(long x) {
    if (Harness.stackLeft() <= LEFT_BYTES) {
      Harness.park();
      return x;
    }
    long v0 = x + 0, v1 = x + 1, v2 = x + 2, v3 = x + 3, v4 = x + 4;
    long v5 = x + 5, v6 = x + 6, v7 = x + 7, v8 = x + 8, v9 = x + 9;
    long v10 = x + 10, v11 = x + 11, v12 = x + 12, v13 = x + 13, v14 = x + 14;
    long v15 = x + 15, v16 = x + 16, v17 = x + 17, v18 = x + 18, v19 = x + 19;
    long v20 = x + 20, v21 = x + 21, v22 = x + 22, v23 = x + 23, v24 = x + 24;
    long v25 = x + 25, v26 = x + 26, v27 = x + 27, v28 = x + 28, v29 = x + 29;
    long v30 = x + 30, v31 = x + 31, v32 = x + 32, v33 = x + 33, v34 = x + 34;
    long v35 = x + 35, v36 = x + 36, v37 = x + 37, v38 = x + 38, v39 = x + 39;
    long v40 = x + 40, v41 = x + 41, v42 = x + 42, v43 = x + 43, v44 = x + 44;
    long v45 = x + 45, v46 = x + 46, v47 = x + 47, v48 = x + 48, v49 = x + 49;
    long v50 = x + 50, v51 = x + 51, v52 = x + 52, v53 = x + 53, v54 = x + 54;
    long v55 = x + 55, v56 = x + 56, v57 = x + 57, v58 = x + 58, v59 = x + 59;
    long v60 = x + 60, v61 = x + 61, v62 = x + 62, v63 = x + 63, v64 = x + 64;
    long v65 = x + 65, v66 = x + 66, v67 = x + 67, v68 = x + 68, v69 = x + 69;
    long v70 = x + 70, v71 = x + 71, v72 = x + 72, v73 = x + 73, v74 = x + 74;
    long v75 = x + 75, v76 = x + 76, v77 = x + 77, v78 = x + 78, v79 = x + 79;
    long v80 = x + 80, v81 = x + 81, v82 = x + 82, v83 = x + 83, v84 = x + 84;
    long v85 = x + 85, v86 = x + 86, v87 = x + 87, v88 = x + 88, v89 = x + 89;
    long v90 = x + 90, v91 = x + 91, v92 = x + 92, v93 = x + 93, v94 = x + 94;
    long v95 = x + 95, v96 = x + 96, v97 = x + 97, v98 = x + 98, v99 = x + 99;
    long v100 = x + 100, v101 = x + 101, v102 = x + 102, v103 = x + 103, v104 = x + 104;
    long v105 = x + 105, v106 = x + 106, v107 = x + 107, v108 = x + 108, v109 = x + 109;
    long v110 = x + 110, v111 = x + 111, v112 = x + 112, v113 = x + 113, v114 = x + 114;
    long v115 = x + 115, v116 = x + 116, v117 = x + 117, v118 = x + 118, v119 = x + 119;
    v0 += interpDive(v119);
    return v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11
        + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23
        + v24 + v25 + v26 + v27 + v28 + v29 + v30 + v31 + v32 + v33 + v34 + v35
        + v36 + v37 + v38 + v39 + v40 + v41 + v42 + v43 + v44 + v45 + v46 + v47
        + v48 + v49 + v50 + v51 + v52 + v53 + v54 + v55 + v56 + v57 + v58 + v59
        + v60 + v61 + v62 + v63 + v64 + v65 + v66 + v67 + v68 + v69 + v70 + v71
        + v72 + v73 + v74 + v75 + v76 + v77 + v78 + v79 + v80 + v81 + v82 + v83
        + v84 + v85 + v86 + v87 + v88 + v89 + v90 + v91 + v92 + v93 + v94 + v95
        + v96 + v97 + v98 + v99 + v100 + v101 + v102 + v103 + v104 + v105 + v106 + v107
        + v108 + v109 + v110 + v111 + v112 + v113 + v114 + v115 + v116 + v117 + v118 + v119;
  }
}
