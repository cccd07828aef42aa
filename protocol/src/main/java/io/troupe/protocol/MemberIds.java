package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.List;

/** Identities of members and clusters (8.3): the same as etcd's for the same URLs and token. */
public final class MemberIds {
  private MemberIds() {}

  /**
   * ID1, for an initial member: the first eight bytes of SHA-1 over the sorted peer URLs and the
   * cluster token.
   */
  public static NodeId initial(List<String> peerUrls, String clusterToken) {
    return id(peerUrls, clusterToken);
  }

  /** ID1 and M2, for a member that is added at runtime: the same with the time and no token. */
  public static NodeId added(List<String> peerUrls, long unixSeconds) {
    return id(peerUrls, Long.toString(unixSeconds));
  }

  /** ID2: the first eight bytes of SHA-1 over the ascending ids of the initial members. */
  public static long cluster(Collection<NodeId> members) {
    ByteBuffer ids = ByteBuffer.allocate(8 * members.size());
    members.stream().sorted().forEach(id -> ids.putLong(id.value()));
    return first8(ids.array());
  }

  private static NodeId id(List<String> peerUrls, String suffix) {
    String joined = String.join("", peerUrls.stream().sorted().toList()) + suffix;
    return new NodeId(first8(joined.getBytes(StandardCharsets.UTF_8)));
  }

  private static long first8(byte[] content) {
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-1").digest(content)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-1 is missing in the Java runtime", e);
    }
  }
}
