package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * Forged messages between members: valid ones, modified, with a matching checksum. Decoding returns
 * a message or throws an IOException, nothing else, and takes no more memory than a message can
 * need. {@code -Dtroupe.fuzz.messages} sets their number.
 */
class PeerMessageFuzzTest {
  private static final int MESSAGES = Integer.getInteger("troupe.fuzz.messages", 20_000);
  private static final long SEED = Long.getLong("troupe.fuzz.seed", 20261122);

  private interface Decoder {
    Object decode(Bytes data) throws IOException;
  }

  private static final List<Decoder> DECODERS =
      List.of(
          PeerCodec::decode,
          GreetingCodec::decode,
          GreetingCodec::decodeReply,
          QueryCodec::decodeQuery,
          QueryCodec::decodeReply);

  private static List<byte[]> golden() throws IOException {
    List<byte[]> all = new ArrayList<>();
    for (String file :
        List.of("peer-messages-v2.txt", "peer-queries-v2.txt", "peer-greetings-v1.txt")) {
      try (InputStream in =
          PeerMessageFuzzTest.class.getClassLoader().getResourceAsStream("golden/" + file)) {
        assertThat(in).isNotNull();
        for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
          all.add(HexFormat.of().parseHex(line.substring(line.indexOf(' ') + 1)));
        }
      }
    }
    return all;
  }

  private static byte[] changed(byte[] good, List<byte[]> others, Random random) {
    byte[] bad = good.clone();
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes && bad.length > 0; i++) {
      int at = random.nextInt(bad.length);
      switch (random.nextInt(6)) {
        case 0 -> bad[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bad[at] = (byte) random.nextInt(256);
        case 2 -> bad = Arrays.copyOf(bad, at);
        // Lengths and numbers of ten bytes.
        case 3 -> Arrays.fill(bad, at, Math.min(bad.length, at + 9), (byte) 0xff);
        case 4 -> {
          byte[] other = others.get(random.nextInt(others.size()));
          int kept = bad.length;
          bad = Arrays.copyOf(bad, kept + other.length);
          System.arraycopy(other, 0, bad, kept, other.length);
        }
        default -> {
          byte[] other = others.get(random.nextInt(others.size()));
          int length = Math.min(other.length, bad.length - at);
          System.arraycopy(other, 0, bad, at, length);
        }
      }
    }
    return sealed(bad);
  }

  /** Combines the head of a complete message with the remaining bytes. */
  private static byte[] sealed(byte[] bytes) {
    if (bytes.length < 5) {
      return bytes;
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes, 5, bytes.length - 5);
    ByteBuffer.wrap(bytes).put(PeerCodec.VERSION).putInt((int) crc.getValue());
    return bytes;
  }

  @Test
  void forgedMessagesAreDecodedOrRejected() throws IOException {
    List<byte[]> golden = golden();
    Random random = new Random(SEED);
    int read = 0;
    for (int i = 0; i < MESSAGES; i++) {
      byte[] bad = changed(golden.get(random.nextInt(golden.size())), golden, random);
      for (Decoder decoder : DECODERS) {
        try {
          decoder.decode(Bytes.wrap(bad));
          read++;
        } catch (IOException refused) {
          assertThat(refused).hasMessageNotContaining("null");
        } catch (RuntimeException | Error wrong) {
          throw new AssertionError(
              "seed=" + SEED + " message=" + i + " " + HexFormat.of().formatHex(bad), wrong);
        }
      }
    }
    System.out.println("messages=" + MESSAGES + " seed=" + SEED + " read=" + read);
    assertThat(read).as("changes that still make sense, or the checksum is wrong").isPositive();
  }
}
