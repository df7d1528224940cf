//! Answers the export and the deletion of personal data.

use api::{
    answer::{Answered, NoContent, Streamed},
    privacy::{PersonalData, PrivacyApi},
    security::Caller,
};
use poem::Body;

use super::{App, Established as _};

impl PrivacyApi for App {
    async fn export_personal_data(&self, caller: Caller) -> Answered<Streamed<PersonalData>> {
        let blocks = self.privacy.export(&caller.member()?).await?;
        Ok(Streamed::new(Body::from_bytes_stream(blocks)))
    }

    async fn delete_personal_data(&self, caller: Caller) -> Answered<NoContent> {
        self.privacy.delete(&*caller.member()?).await?;
        Ok(NoContent)
    }
}
