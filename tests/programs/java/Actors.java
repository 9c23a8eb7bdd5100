// SPDX-License-Identifier: Apache-2.0
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/* Actors of Pekko that send each other numbers without end, in pairs. */
public class Actors {
    record Ping(int number, ActorRef<Object> from) {}

    static Behavior<Object> player() {
        return Behaviors.setup(context -> Behaviors.receiveMessage(message -> {
            if (message instanceof Ping ping) {
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < ping.number() % 8; i++)
                    text.append(i);
                ping.from().tell(new Ping(ping.number() + 1 + text.length() % 2, context.getSelf()));
            }
            return Behaviors.same();
        }));
    }

    public static void main(String[] args) {
        ActorSystem.create(Behaviors.setup(context -> {
            for (int i = 0; i < 64; i++) {
                ActorRef<Object> one = context.spawn(player(), "one" + i);
                one.tell(new Ping(i, context.spawn(player(), "other" + i)));
            }
            return Behaviors.empty();
        }), "load");
    }
}
