// SPDX-License-Identifier: Apache-2.0
// ZXing draws texts as bar codes and reads them again: SCALE SEED.
import com.google.zxing.*
import com.google.zxing.common.BitMatrix
import com.google.zxing.common.HybridBinarizer

int scale = args[0] as int
def random = new Random(args[1] as long)

Result read(BitMatrix code) {
  int[] pixels = new int[code.width * code.height]
  for (int y = 0; y < code.height; y++) {
    for (int x = 0; x < code.width; x++) {
      pixels[y * code.width + x] = code.get(x, y) ? 0 : 0xffffff
    }
  }
  def image = new RGBLuminanceSource(code.width, code.height, pixels)
  def hints = [(DecodeHintType.TRY_HARDER): true]
  new MultiFormatReader().decode(new BinaryBitmap(new HybridBinarizer(image)), hints)
}

int tried = 0, missed = 0
(40 * scale).times {
  def text = (1..200).collect { random.nextInt(10) }.join()
  [(BarcodeFormat.QR_CODE): text, (BarcodeFormat.PDF_417): text, (BarcodeFormat.AZTEC): text,
   (BarcodeFormat.CODE_128): text.take(40)].each { format, wanted ->
    tried++
    try {
      def found = read(new MultiFormatWriter().encode(wanted, format, 400, 400))
      assert found.text == wanted && found.barcodeFormat == format
    } catch (ReaderException unread) {
      missed++
    }
  }
}
// Readers give up on some pictures; what they do read must be right.
println "$missed of $tried not read"
assert missed * 5 < tried
