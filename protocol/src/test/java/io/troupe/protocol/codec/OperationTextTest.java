package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import java.util.List;
import org.junit.jupiter.api.Test;

class OperationTextTest {
  private static final Operation.Put PUT =
      new Operation.Put(Bytes.of('k', 0), Bytes.utf8("hidden"), 0, false, false, false);

  @Test
  void showsKeysButNotValues() {
    assertThat(OperationText.of(PUT)).isEqualTo("put key:\"k\\000\" value_size:6");
    assertThat(
            OperationText.of(
                new Operation.DeleteRange(new KeyRange(Bytes.utf8("a"), Bytes.utf8("b")), false)))
        .isEqualTo("delete_range key:\"a\" range_end:\"b\"");
    assertThat(OperationText.of(new Operation.Txn(List.of(), List.of(PUT), List.of())))
        .isEqualTo("txn compare:0 success:1 failure:0");
    assertThat(OperationText.of(new Operation.UserAdd("u", "hash", false))).isEqualTo("user_add");
  }

  @Test
  void longKeyIsTruncated() {
    Operation put =
        new Operation.Put(Bytes.utf8("k".repeat(1000)), Bytes.EMPTY, 0, false, false, false);
    assertThat(OperationText.of(put))
        .isEqualTo("put key:\"" + "k".repeat(256) + "\"... value_size:0");
  }
}
