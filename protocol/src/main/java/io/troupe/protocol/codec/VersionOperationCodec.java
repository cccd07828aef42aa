package io.troupe.protocol.codec;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.protocol.wire.WireClusterVersion;
import io.troupe.protocol.wire.WireDowngrade;
import io.troupe.protocol.wire.WireOperation;
import org.jspecify.annotations.Nullable;

/** Changes of the versions of the cluster in a log record (docs/formats/operation.md). */
final class VersionOperationCodec {
  private VersionOperationCodec() {}

  static void set(Operation.Versions operation, WireOperation.Builder out) {
    if (operation instanceof Operation.SetClusterVersion change) {
      out.setClusterVersion(
          WireClusterVersion.newBuilder()
              .setFrom(text(change.from()))
              .setTo(change.to().toString()));
    } else if (operation instanceof Operation.EnableDowngrade enable) {
      out.setDowngrade(
          WireDowngrade.newBuilder().setEnable(true).setTarget(enable.target().toString()));
    } else {
      Operation.CancelDowngrade cancel = (Operation.CancelDowngrade) operation;
      out.setDowngrade(WireDowngrade.newBuilder().setTarget(text(cancel.target())));
    }
  }

  /** Decodes the body of a record that {@link #set} wrote. */
  static Operation of(WireOperation wire) throws InvalidProtocolBufferException {
    if (wire.getBodyCase() == WireOperation.BodyCase.CLUSTER_VERSION) {
      WireClusterVersion change = wire.getClusterVersion();
      return new Operation.SetClusterVersion(
          version(change.getFrom()), EtcdVersion.parse(change.getTo()));
    }
    EtcdVersion target = version(wire.getDowngrade().getTarget());
    if (!wire.getDowngrade().getEnable()) {
      return new Operation.CancelDowngrade(target);
    }
    if (target == null) {
      throw new InvalidProtocolBufferException("downgrade without a target");
    }
    return new Operation.EnableDowngrade(target);
  }

  private static String text(@Nullable EtcdVersion version) {
    return version == null ? "" : version.toString();
  }

  private static @Nullable EtcdVersion version(String text) {
    return text.isEmpty() ? null : EtcdVersion.parse(text);
  }
}
