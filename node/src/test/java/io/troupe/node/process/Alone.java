package io.troupe.node.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test of whole processes that needs the machine for itself: several members under load, or times
 * that count. The others run two at a time, because most of what they do is waiting; of several
 * members see {@link Clusters}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("alone")
public @interface Alone {}
