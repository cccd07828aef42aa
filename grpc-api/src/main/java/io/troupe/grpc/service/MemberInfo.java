package io.troupe.grpc.service;

import io.troupe.model.NodeId;
import java.util.List;

/**
 * A member of the cluster as the membership has it.
 *
 * @param peerUrls sorted as text
 */
public record MemberInfo(NodeId id, List<String> peerUrls, boolean learner) {
  public MemberInfo {
    peerUrls = peerUrls.stream().sorted().toList();
  }
}
