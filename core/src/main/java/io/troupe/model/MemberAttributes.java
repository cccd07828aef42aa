package io.troupe.model;

import java.util.List;

/**
 * Attributes that a member published about itself (M3).
 *
 * @param member id of the member
 * @param name its name
 * @param clientUrls its advertised client URLs, in the order in which the member published them
 */
public record MemberAttributes(NodeId member, String name, List<String> clientUrls) {
  public MemberAttributes {
    clientUrls = List.copyOf(clientUrls);
  }
}
