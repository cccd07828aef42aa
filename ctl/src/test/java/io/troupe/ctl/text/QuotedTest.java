package io.troupe.ctl.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class QuotedTest {
  private static ByteString bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return ByteString.copyFrom(bytes);
  }

  @Test
  void escapesControlCharactersAndQuotes() {
    assertThat(Quoted.quote("a\"b\\\n\t\u0007\u000b")).isEqualTo("\"a\\\"b\\\\\\n\\t\\a\\v\"");
    assertThat(Quoted.quote("\u0001\u007f")).isEqualTo("\"\\x01\\x7f\"");
  }

  @Test
  void keepsPrintableTextAndEscapesOtherCharacters() {
    assertThat(Quoted.quote("é€\ud83d\ude00")).isEqualTo("\"é€\ud83d\ude00\"");
    assertThat(Quoted.quote("\u00a0\u200b")).isEqualTo("\"\\u00a0\\u200b\"");
  }

  @Test
  void escapesBytesThatAreNotUtf8() {
    assertThat(Quoted.quote(bytes('v', 0xff, 0xc3, 'x', 0xc3, 0xa9)))
        .isEqualTo("\"v\\xff\\xc3xé\"");
  }

  @Test
  void readsAllEscapes() {
    assertThat(Quoted.unquote("\"\\x41\\102\\u0043\\n\\\"\""))
        .isEqualTo(bytes('A', 'B', 'C', '\n', '"'));
    assertThat(Quoted.unquote("\"\\xff\"")).isEqualTo(bytes(0xff));
    assertThat(Quoted.unquote("`a\\n`").toStringUtf8()).isEqualTo("a\\n");
  }

  @Test
  void rejectsIncompleteText() {
    for (String text :
        new String[] {"\"a", "\"\\q\"", "\"\\x4\"", "\"a\"b\"", "'a'", "\"\\400\""}) {
      assertThatThrownBy(() -> Quoted.unquote(text)).hasMessage("invalid syntax");
    }
  }

  @Test
  void rawArgumentsReturnTheSameBytes() {
    ByteString raw = bytes('k', 0xff, 0xc3, 0xa9, 0x80, 0xf0, 0x9f);
    assertThat(RawArguments.encode(RawArguments.decode(raw))).isEqualTo(raw);
    assertThat(RawArguments.encode("é€")).isEqualTo(ByteString.copyFromUtf8("é€"));
  }
}
