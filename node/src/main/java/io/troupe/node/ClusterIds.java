package io.troupe.node;

import io.troupe.model.NodeId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.List;

/**
 * Identities of members and clusters at bootstrap (8.3): the same as etcd's for the same URLs and
 * token.
 */
final class ClusterIds {
  private ClusterIds() {}

  /** ID1: the first eight bytes of SHA-1 over the sorted peer URLs and the cluster token. */
  static NodeId member(List<String> peerUrls, String clusterToken) {
    String joined = String.join("", peerUrls.stream().sorted().toList()) + clusterToken;
    return new NodeId(first8(joined.getBytes(StandardCharsets.UTF_8)));
  }

  /** ID2: the first eight bytes of SHA-1 over the ascending ids of the initial members. */
  static long cluster(Collection<NodeId> members) {
    ByteBuffer ids = ByteBuffer.allocate(8 * members.size());
    members.stream().sorted().forEach(id -> ids.putLong(id.value()));
    return first8(ids.array());
  }

  private static long first8(byte[] content) {
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-1").digest(content)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
