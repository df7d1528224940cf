//! News of one replica for the others, such as that a provider limits the rate of a holder. Each replica decides by what it knows, and
//! hears of others within about a second.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{clock::Clock, secrets::Secrets};
use redis::streams::StreamRangeReply;

use super::{
    link::Link,
    names::Names,
    scripts::{TELL, millis},
    sealed,
};

/// The time between two looks for news.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The time for which news are kept, so that a replica that starts hears them too.
const KEPT: Duration = Duration::from_hours(1);

/// The number of news that a topic keeps, and that one look takes at most.
const MOST: usize = 10_000;
const AT_ONCE: usize = 1_000;

/// The number of news that may be on their way to Redis. Others are told to nobody.
const UNDER_WAY: usize = 1_000;

/// News about one topic. Clones share it.
#[derive(Clone)]
pub struct News(Arc<Topic>);

struct Topic {
    link: Arc<Link>,
    name: String,
    secrets: Secrets,
    clock: Clock,
    under_way: AtomicUsize,
}

impl News {
    pub(super) fn new(link: Arc<Link>, names: &Names, topic: &str, secrets: Secrets, clock: Clock) -> Self {
        let name = names.news(topic);
        Self(Arc::new(Topic { link, name, secrets, clock, under_way: AtomicUsize::new(0) }))
    }

    /// Tells the other replicas in the background. This one hears it too.
    pub fn tell(&self, news: &[u8]) {
        let topic = self.0.clone();
        let expires_at = topic.clock.now() + KEPT;
        let Some(value) = sealed::sealed(news, expires_at, &topic.name, &topic.secrets) else { return };
        if topic.under_way.fetch_add(1, Ordering::Relaxed) >= UNDER_WAY {
            topic.under_way.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        tokio::spawn(async move {
            let mut script = TELL.key(&topic.name);
            script.arg(value).arg(MOST).arg(millis(KEPT));
            let _: Option<()> = topic.link.script(&script).await;
            topic.under_way.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Calls `hear` with all news that are kept and then with each that comes, in the order in which Redis received them, until it
    /// returns `false` or the topic is dropped.
    pub fn listen(&self, mut hear: impl FnMut(&[u8]) -> bool + Send + 'static) {
        let topic: Weak<Topic> = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(LOOK_EVERY);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut last = "-".to_owned();
            loop {
                ticks.tick().await;
                let Some(topic) = topic.upgrade() else { return };
                while let Some(news) = topic.after(&mut last).await {
                    if !news.iter().all(|news| hear(news)) {
                        return;
                    }
                    if news.len() < AT_ONCE {
                        break;
                    }
                }
            }
        });
    }
}

impl Topic {
    /// The news after the id `last`, which becomes that of the newest. `None` if Redis is away or there are none.
    async fn after(&self, last: &mut String) -> Option<Vec<Vec<u8>>> {
        let mut range = redis::cmd("XRANGE");
        range.arg(&self.name).arg(&*last).arg("+").arg("COUNT").arg(AT_ONCE);
        let found: StreamRangeReply = self.link.command(&range).await?;
        let newest = &found.ids.last()?.id;
        *last = format!("({newest}");
        let now = self.clock.now();
        let opened = |value: Vec<u8>| sealed::opened(&value, now, &self.name, &self.secrets);
        Some(found.ids.iter().filter_map(|entry| opened(entry.get("v")?)).collect())
    }
}
