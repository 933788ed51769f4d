//! The metadata service and the services of AWS: any status and any bytes are an answer that can be judged.
#![no_main]

use bringup_aws::metadata::{self, Tried};
use bringup_aws::signal::{LifecycleAction, StackSignal};
use bringup_aws::{Response, store, token};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: (u16, bool, &[u8])| {
    let (status, renewed, body) = answer;
    // Most statuses are decided without a look at the body.
    for status in [200, status] {
        let response = Response { status, body };
        let tried = Tried::Response(response);
        let _ = metadata::token(tried);
        let _ = metadata::identity_document().judge(tried, renewed);
        let _ = metadata::identity_signature().judge(tried, renewed);
        let _ = metadata::lifecycle().judge(tried, renewed);
        let _ = metadata::hostname().judge(tried, renewed);
        let _ = metadata::local_ipv4().judge(tried, renewed);
        let _ = metadata::ipv6().judge(tried, renewed);
        let _ = metadata::mac().judge(tried, renewed);
        let _ = metadata::vpc_ipv4_cidrs("").judge(tried, renewed);
        let _ = metadata::vpc_ipv6_cidrs("").judge(tried, renewed);
        let _ = metadata::tag_names().judge(tried, renewed);
        let _ = metadata::tag("").judge(tried, renewed);
        let _ = metadata::role_name().judge(tried, renewed);
        let _ = metadata::role_credentials("").judge(tried, renewed);
        let _ = StackSignal::heard(response);
        let _ = LifecycleAction::heard(response);
        let _ = store::parameter_value(response);
        let _ = store::secret_value(response);
        let _ = token::assumed_role(response);
    }
});
