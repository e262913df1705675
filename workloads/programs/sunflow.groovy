// SPDX-License-Identifier: Apache-2.0
// Sunflow renders its own benchmark scene: SCALE THREADS. Comparing the image with a reference is
// left out: the reference images in Debian's jar do not belong to its renderer.
int scale = args[0] as int
def scene = new org.sunflow.Benchmark(128, false, false, false, args[1] as int, false)
(2 * scale).times {
  scene.kernelBegin()
  scene.kernelMain()
}
