package io.troupe.model;

import java.util.List;

/**
 * What a member published about itself (M3).
 *
 * @param member who
 * @param name its name
 * @param clientUrls its advertised client URLs, in the order it gave
 */
public record MemberAttributes(NodeId member, String name, List<String> clientUrls) {
  public MemberAttributes {
    clientUrls = List.copyOf(clientUrls);
  }
}
