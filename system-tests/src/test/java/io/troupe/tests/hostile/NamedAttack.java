package io.troupe.tests.hostile;

/**
 * An attack and its name in results.
 *
 * @param name of one line
 */
record NamedAttack(String name, Attack attack) {
  @Override
  public String toString() {
    return name;
  }
}
