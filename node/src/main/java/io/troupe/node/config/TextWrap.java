package io.troupe.node.config;

/** Breaks a text into lines between words. */
public final class TextWrap {
  private static final int WIDTH = 92;

  private TextWrap() {}

  /** Appends the text in lines of at most 92 characters, each after the indent. */
  public static void append(String text, String indent, StringBuilder out) {
    int length = 0;
    for (String word : text.strip().split(" ", -1)) {
      if (length > 0 && length + word.length() >= WIDTH) {
        out.append('\n');
        length = 0;
      }
      out.append(length == 0 ? indent : " ").append(word);
      length += word.length() + 1;
    }
    out.append('\n');
  }
}
