package io.troupe.node.flags;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.ConstructNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.schema.Schema;

/**
 * Resolves a plain word of a file to null, a Boolean, a BigInteger, a BigDecimal, or else a text.
 * No schema of the library has YAML 1.1's words and Go's numbers.
 *
 * @source go-yaml v2, with which etcd reads its file
 */
final class YamlScalars implements Schema {
  private static final Set<String> NOTHING = Set.of("", "~", "null", "Null", "NULL");
  private static final Set<String> TRUE =
      Set.of("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON");
  private static final Set<String> FALSE =
      Set.of("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");

  /** The library's interface does not declare that a value may be null. */
  @SuppressWarnings("NullAway")
  private static final ConstructNode NONE = node -> null;

  @Override
  public ScalarResolver getScalarResolver() {
    return (word, plain) -> plain ? tag(word) : Tag.STR;
  }

  private static Tag tag(String word) {
    if (NOTHING.contains(word)) {
      return Tag.NULL;
    }
    if (TRUE.contains(word) || FALSE.contains(word)) {
      return Tag.BOOL;
    }
    if (GoInteger.parse(word).isPresent()) {
      return Tag.INT;
    }
    // A number beyond the range of double is a text.
    boolean decimal = DECIMAL.matcher(word).matches() && Double.isFinite(Double.parseDouble(word));
    return decimal ? Tag.FLOAT : Tag.STR;
  }

  @Override
  public Map<Tag, ConstructNode> getSchemaTagConstructors() {
    return Map.of(
        Tag.NULL, NONE,
        Tag.BOOL, node -> TRUE.contains(word(node)),
        Tag.INT, node -> GoInteger.parse(word(node)).orElse(BigInteger.ZERO),
        Tag.FLOAT, node -> new BigDecimal(word(node)));
  }

  private static String word(Node node) {
    return ((ScalarNode) node).getValue();
  }
}
