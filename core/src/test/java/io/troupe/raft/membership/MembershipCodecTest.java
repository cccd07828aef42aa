package io.troupe.raft.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MembershipCodecTest {
  private static final Membership MEMBERSHIP =
      new Membership(
          7,
          Set.of(new NodeId(1), new NodeId(-1)),
          Set.of(new NodeId(2)),
          Set.of(new NodeId(1), new NodeId(3)),
          Set.of(),
          Set.of(new NodeId(9)));
  private static final ConfEntry ENTRY =
      new ConfEntry(
          new RequestId(0x1234),
          List.of(
              new ConfChange(
                  ConfChange.Kind.ADD_VOTER, new NodeId(-1), List.of("http://h\u00f6st:2380", "x")),
              new ConfChange(ConfChange.Kind.REMOVE, new NodeId(3))),
          MEMBERSHIP);

  @Test
  void roundTripKeepsMembership() {
    assertThat(MembershipCodec.decodeMembership(MembershipCodec.encode(MEMBERSHIP)))
        .isEqualTo(MEMBERSHIP);
    assertThat(MembershipCodec.decodeEntry(MembershipCodec.encode(ENTRY))).isEqualTo(ENTRY);
    ConfEntry withoutRequest = new ConfEntry(null, List.of(), MEMBERSHIP);
    assertThat(MembershipCodec.decodeEntry(MembershipCodec.encode(withoutRequest)))
        .isEqualTo(withoutRequest);
  }

  /** The format on existing disks: version, version of the membership, five sets. */
  @Test
  void encodingIsStable() {
    Membership small =
        new Membership(2, Set.of(new NodeId(5)), Set.of(), Set.of(), Set.of(), Set.of());
    assertThat(HexFormat.of().formatHex(MembershipCodec.encode(small).toArray()))
        .isEqualTo(
            "01" + "0000000000000002" + "00000001" + "0000000000000005" + "00000000".repeat(4));
    ConfEntry update =
        new ConfEntry(
            new RequestId(3),
            List.of(new ConfChange(ConfChange.Kind.UPDATE, new NodeId(5), List.of("ab"))),
            small);
    assertThat(HexFormat.of().formatHex(MembershipCodec.encode(update).toArray()))
        .isEqualTo(
            "01"
                + "0000000000000003"
                + "00000001"
                + "03"
                + "0000000000000005"
                + "00000001"
                + "00000002"
                + "6162"
                + HexFormat.of().formatHex(MembershipCodec.encode(small).toArray()).substring(2));
  }

  @Test
  void everyTruncationAndEveryFlippedCountIsDetected() {
    Bytes whole = MembershipCodec.encode(ENTRY);
    for (int length = 0; length < whole.length(); length++) {
      Bytes cut = whole.slice(0, length);
      assertThatThrownBy(() -> MembershipCodec.decodeEntry(cut))
          .as("length " + length)
          .isInstanceOf(IllegalStateException.class);
    }
    assertThatThrownBy(() -> MembershipCodec.decodeEntry(whole.concat(Bytes.of(0))))
        .isInstanceOf(IllegalStateException.class);
    byte[] damaged = whole.toArray();
    damaged[9] = 0x7f; // first byte of the number of changes
    assertThatThrownBy(() -> MembershipCodec.decodeEntry(Bytes.wrap(damaged)))
        .isInstanceOf(IllegalStateException.class);
    byte[] newer = whole.toArray();
    newer[0] = 2;
    assertThatThrownBy(() -> MembershipCodec.decodeEntry(Bytes.wrap(newer)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("version 2");
  }
}
