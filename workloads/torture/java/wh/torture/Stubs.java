// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Stream;
import java.util.zip.Checksum;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** What the VM does by stubs and intrinsics. Plain code or an inverse checks each result. */
final class Stubs extends Worker {
  private static final String[] DIGESTS = // SHA-3 came with JDK 9
      Stream.of("MD5", "SHA-1", "SHA-256", "SHA-512", "SHA3-256")
          .filter(Stubs::isDigest)
          .toArray(String[]::new);
  private static final BigInteger TWO = BigInteger.valueOf(2);

  Stubs(Context context) {
    super(context);
  }

  private static boolean isDigest(String name) {
    try {
      MessageDigest.getInstance(name);
      return true;
    } catch (NoSuchAlgorithmException e) {
      return false;
    }
  }

  @Override
  public void round() throws GeneralSecurityException {
    for (int i = 0; i < 3 * context.scale; i++) {
      byte[] data = new byte[16 + context.random.nextInt(5000)];
      context.fill(data);
      copies(data);
      objectCopies(data.length);
      strings(data);
      hashes(data);
      ciphers(data);
      numbers(data);
      clocks();
    }
  }

  // All widths, both directions of overlap.
  private void copies(byte[] data) {
    int length = data.length / 2;
    int from = context.random.nextInt(length);
    int to = context.random.nextInt(length);
    byte[] bytes = data.clone();
    short[] shorts = new short[data.length];
    int[] ints = new int[data.length];
    long[] longs = new long[data.length];
    for (int i = 0; i < data.length; i++) {
      shorts[i] = data[i];
      ints[i] = data[i];
      longs[i] = data[i];
    }
    System.arraycopy(bytes, from, bytes, to, length);
    System.arraycopy(shorts, from, shorts, to, length);
    System.arraycopy(ints, from, ints, to, length);
    System.arraycopy(longs, from, longs, to, length);
    for (int i = 0; i < data.length; i++) {
      long expected = i >= to && i < to + length ? data[i - to + from] : data[i];
      context.same("a copied byte", expected, bytes[i]);
      context.same("a copied short", expected, shorts[i]);
      context.same("a copied int", expected, ints[i]);
      context.same("a copied long", expected, context.planted(longs[i]));
    }
    Arrays.fill(ints, from, from + length, 7);
    for (int i = from; i < from + length; i++) context.same("a filled int", 7, ints[i]);
    context.same("a mismatch", -1, Platform.mismatch(data, data.clone()));
    byte[] other = data.clone();
    other[from] ^= 1;
    context.same("a mismatch", from, Platform.mismatch(data, other));
  }

  private void objectCopies(int length) {
    Object[] mixed = new Object[length];
    Arrays.fill(mixed, "text");
    mixed[length - 1] = 1;
    String[] texts = new String[length];
    int stored = 0;
    try {
      System.arraycopy(mixed, 0, texts, 0, length);
      throw new Mismatch("an Integer was stored among strings");
    } catch (ArrayStoreException e) {
      while (texts[stored] != null) stored++;
    }
    context.same("elements before a store that failed", length - 1, stored);
    Object[] copy = Arrays.copyOf(mixed, length - 1, Object[].class);
    context.that(Arrays.asList(copy).indexOf(1) < 0, "a copy holds too much");
  }

  private void strings(byte[] data) {
    String latin = new String(data, StandardCharsets.ISO_8859_1);
    String wide = latin + '\u20ac';
    context.that(Arrays.equals(data, latin.getBytes(StandardCharsets.ISO_8859_1)), "Latin 1");
    context.same("a decoded string", wide,
        new String(wide.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    context.same("a decoded string", wide,
        new String(wide.getBytes(StandardCharsets.UTF_16BE), StandardCharsets.UTF_16BE));
    context.same("the place of a char", data.length, wide.indexOf('\u20ac'));
    int at = data.length / 3;
    String part = latin.substring(at);
    context.that(latin.indexOf(part) <= at && wide.indexOf(part) <= at, "a part was not found");
    context.that(latin.compareTo(wide) < 0 && latin.equals(wide.substring(0, data.length)),
        "strings compare wrongly");
    int hash = 0;
    for (byte each : data) hash = 31 * hash + (each & 0xff);
    context.same("a string's hash", hash, latin.hashCode());
    byte[] decoded = Base64.getDecoder().decode(Base64.getEncoder().encode(data));
    context.that(Arrays.equals(data, decoded), "Base64 does not decode what it encoded");
  }

  private void hashes(byte[] data) throws GeneralSecurityException {
    int cut = context.random.nextInt(data.length);
    Checksum crc = Platform.checksum();
    crc.update(data, 0, data.length);
    long whole = crc.getValue();
    crc.reset();
    for (byte each : data) crc.update(each);
    context.same("a checksum", whole, crc.getValue());
    for (String name : DIGESTS) {
      MessageDigest digest = MessageDigest.getInstance(name);
      byte[] atOnce = digest.digest(data);
      digest.update(data, 0, cut);
      digest.update(data, cut, data.length - cut);
      context.that(Arrays.equals(atOnce, digest.digest()), name + " of parts differs");
    }
  }

  private void ciphers(byte[] data) throws GeneralSecurityException {
    SecretKeySpec key = new SecretKeySpec(data, 0, 16, "AES");
    byte[] start = Arrays.copyOf(data, 16);
    IvParameterSpec vector = new IvParameterSpec(start);
    for (String mode : new String[] {"AES/CBC/PKCS5Padding", "AES/CTR/NoPadding"}) {
      checkCipher(Cipher.getInstance(mode), key, vector, data);
    }
    checkCipher(Cipher.getInstance("AES/GCM/NoPadding"), key, new GCMParameterSpec(128, start),
        data);
  }

  private void checkCipher(Cipher cipher, SecretKeySpec key,
      AlgorithmParameterSpec parameters, byte[] data)
      throws GeneralSecurityException {
    cipher.init(Cipher.ENCRYPT_MODE, key, parameters);
    byte[] secret = cipher.doFinal(data);
    cipher.init(Cipher.DECRYPT_MODE, key, parameters);
    context.that(Arrays.equals(data, cipher.doFinal(secret)), cipher.getAlgorithm()
        + " does not decrypt what it encrypted");
  }

  private void numbers(byte[] data) {
    BigInteger a = new BigInteger(1, Arrays.copyOf(data, 1 + context.random.nextInt(200)));
    BigInteger b = new BigInteger(1, data).shiftRight(7).add(BigInteger.ONE);
    BigInteger product = a.add(b).multiply(a.add(b));
    BigInteger sum = a.multiply(a).add(a.multiply(b).shiftLeft(1)).add(b.multiply(b));
    context.same("the square of a sum", sum, product);
    context.same("a quotient", a, a.multiply(b).divide(b));
    BigInteger prime = TWO.pow(127).subtract(BigInteger.ONE);
    BigInteger base = a.mod(prime).add(TWO);
    context.same("Fermat's power", base.mod(prime), base.modPow(prime, prime));
    double x = context.random.nextDouble();
    double one = Math.sin(x) * Math.sin(x) + Math.cos(x) * Math.cos(x);
    context.that(Math.abs(one - 1) < 1e-12, "sine and cosine do not fit");
    context.that(Math.abs(Math.exp(Math.log(x + 1)) - x - 1) < 1e-12, "a logarithm is wrong");
    long bits = context.random.nextLong();
    context.same("bits", 64, Long.bitCount(bits) + Long.bitCount(~bits));
    context.same("a reversed number", bits, Long.reverse(Long.reverse(bits)));
  }

  private void clocks() {
    long last = System.nanoTime();
    for (int i = 0; i < 500; i++) {
      long now = System.nanoTime();
      context.that(now - last >= 0, "the clock ran backwards");
      last = now;
    }
  }
}
