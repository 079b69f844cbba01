"""Stand-ins for the AWS tools that cannot be had where these tests run."""
