package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of etcd's key bucket, with and without copies of their user key and value (MT7). */
class EtcdRecordTest {
  private static Bytes joined(List<Bytes> parts) {
    return parts.stream().reduce(Bytes.EMPTY, Bytes::concat);
  }

  private static Bytes bytes(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + 7);
    }
    return Bytes.wrap(bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 127, 128, 4000, 4095, 4096, 5000, 20_000})
  void messageContainsTheRecord(int valueBytes) {
    for (int keyBytes : List.of(1, 96, 4096, 9000)) {
      KeyValue kv =
          new KeyValue(bytes(keyBytes), 1, 1L << 40, 300, bytes(valueBytes), Long.MIN_VALUE);
      EtcdRecord record = EtcdRecord.put(kv, 5);
      Bytes message = joined(record.message());
      assertThat(EtcdRecord.decode(message)).isEqualTo(kv);
      assertThat((long) message.length()).isEqualTo(EtcdRecord.messageBytes(kv));
      assertThat(record.length()).isEqualTo(17 + message.length());
      assertThat(record.key())
          .isEqualTo(Bytes.of(0, 0, 1, 0, 0, 0, 0, 0, '_', 0, 0, 0, 0, 0, 0, 0, 5));
      CRC32C checksum = new CRC32C();
      record.addTo(checksum);
      CRC32C expected = new CRC32C();
      expected.update(record.key().concat(message).toArray());
      assertThat(checksum.getValue()).isEqualTo(expected.getValue());
      if (EtcdRecord.isSmall(kv)) {
        byte[] target = new byte[EtcdRecord.SMALL_BYTES];
        int length = EtcdRecord.writeSmall(kv, 5, target);
        assertThat(Bytes.wrap(target, 0, length)).isEqualTo(record.key().concat(message));
      }
    }
  }

  @Test
  void largestSmallRecordFits() {
    KeyValue kv = new KeyValue(bytes(EtcdRecord.SMALL_BYTES), -1, -1, -1, Bytes.EMPTY, -1);
    assertThat(EtcdRecord.isSmall(kv)).isFalse();
    KeyValue largest = new KeyValue(bytes(96), -1, -1, -1, bytes(4000), -1);
    assertThat(EtcdRecord.isSmall(largest)).isTrue();
    assertThat(EtcdRecord.isSmall(new KeyValue(bytes(97), -1, -1, -1, bytes(4000), -1))).isFalse();
    byte[] target = new byte[EtcdRecord.SMALL_BYTES];
    assertThat((long) EtcdRecord.writeSmall(largest, -1, target))
        .isEqualTo(17 + EtcdRecord.messageBytes(largest));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4095, 4096, 4097, 20_000})
  void messageOfDeletionContainsTheUserKey(int keyBytes) {
    EtcdRecord record = EtcdRecord.tombstone(258, 1, bytes(keyBytes));
    Bytes message = joined(record.message());
    assertThat(EtcdRecord.decode(message))
        .isEqualTo(new KeyValue(bytes(keyBytes), 0, 0, 0, Bytes.EMPTY, 0));
    assertThat((long) message.length()).isEqualTo(EtcdRecord.tombstoneBytes(bytes(keyBytes)));
    assertThat(record.key())
        .isEqualTo(Bytes.of(0, 0, 0, 0, 0, 0, 1, 2, '_', 0, 0, 0, 0, 0, 0, 0, 1, 't'));
  }

  @ParameterizedTest
  @ValueSource(ints = {5000, 100_000})
  void largeValueIsNotCopied(int valueBytes) {
    Bytes value = bytes(valueBytes);
    EtcdRecord record = EtcdRecord.put(new KeyValue(bytes(3), 1, 1, 1, value, 0), 0);
    assertThat(record.message()).anyMatch(part -> part.backingArray() == value.backingArray());
  }
}
