package io.troupe.tests.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A long test of commands, files or starts, whose outcome does not depend on the heap of its
 * members. The profile {@code small-heap} leaves it out.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("heap-independent")
public @interface HeapIndependent {}
